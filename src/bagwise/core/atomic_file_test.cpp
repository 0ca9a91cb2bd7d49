#include "bagwise/core/atomic_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/temp_dir.h"

namespace {

namespace fs = std::filesystem;
using bagwise::AtomicFile;
using bagwise::test::TempDir;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::size_t files_in(const TempDir& dir) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir.path), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("atomic_file: a committed file holds all bytes and nothing else is left", "[core][atomic_file]") {
  TempDir dir;
  const std::string path = dir.file("out.txt");
  const std::string big(3 << 20, 'x');  // larger than the buffer
  {
    auto file = AtomicFile::create(path);
    REQUIRE(file);
    REQUIRE(file->write("head\n"));
    REQUIRE(file->write(big));
    REQUIRE(file->write(std::string_view("\0tail", 5)));
    CHECK_FALSE(fs::exists(path));
    REQUIRE(file->commit());
  }
  CHECK(contents(path) == "head\n" + big + std::string("\0tail", 5));
  CHECK(files_in(dir) == 1);
}

TEST_CASE("atomic_file: without a commit the old file stays and no temporary is left",
          "[core][atomic_file]") {
  TempDir dir;
  const std::string path = dir.file("out.txt");
  REQUIRE(bagwise::write_file(path, "old"));
  {
    auto file = AtomicFile::create(path);
    REQUIRE(file);
    REQUIRE(file->write(std::string(2 << 20, 'n')));
    CHECK(contents(path) == "old");
    auto moved = std::move(*file);  // the moved-from one must not remove anything twice
    CHECK(files_in(dir) == 2);
  }
  CHECK(contents(path) == "old");
  CHECK(files_in(dir) == 1);
}

TEST_CASE("atomic_file: two files in the making do not meet", "[core][atomic_file]") {
  TempDir dir;
  const std::string path = dir.file("out.txt");
  auto a = AtomicFile::create(path), b = AtomicFile::create(path);
  REQUIRE(a);
  REQUIRE(b);
  REQUIRE(a->write("a"));
  REQUIRE(b->write("b"));
  REQUIRE(b->commit());
  CHECK(contents(path) == "b");
  REQUIRE(a->commit());
  CHECK(contents(path) == "a");
  CHECK(files_in(dir) == 1);
}

TEST_CASE("atomic_file: rights are those of any new file, and an old file keeps its own",
          "[core][atomic_file]") {
  TempDir dir;
  const mode_t mask = umask(027);
  REQUIRE(bagwise::write_file(dir.file("new"), "x"));
  umask(mask);
  struct stat info {};
  REQUIRE(stat(dir.file("new").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
  REQUIRE(chmod(dir.file("new").c_str(), 0604) == 0);
  REQUIRE(bagwise::write_file(dir.file("new"), "y"));
  REQUIRE(stat(dir.file("new").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0604);
}

TEST_CASE("atomic_file: nothing is written through a symbolic link", "[core][atomic_file][badargs]") {
  TempDir dir;
  REQUIRE(bagwise::write_file(dir.file("real"), "old"));
  fs::create_directory(dir.file("folder"));
  for (const char* to : {"real", "missing", "folder"}) {
    const std::string link = dir.file(std::string("to-") + to);
    fs::create_symlink(dir.file(to), link);
    const auto written = bagwise::write_file(link, "new");
    REQUIRE_FALSE(written);
    CHECK(written.error().text() ==
          link + ": is a symbolic link, and nothing is written through one; expected the name of a file");
    CHECK(fs::is_symlink(link));
  }
  CHECK(contents(dir.file("real")) == "old");
  CHECK_FALSE(fs::exists(dir.file("missing")));
  CHECK(fs::is_empty(dir.file("folder")));
  CHECK(files_in(dir) == 5);
  // A device or a pipe cannot be replaced by mistake.
  fs::create_symlink("/dev/null", dir.file("to-null"));
  CHECK(bagwise::write_file(dir.file("to-null"), "x").ok());
  CHECK(fs::is_symlink(dir.file("to-null")));
}

TEST_CASE("atomic_file: a link put in the way after the file was begun is replaced, not followed",
          "[core][atomic_file]") {
  TempDir dir;
  REQUIRE(bagwise::write_file(dir.file("precious"), "old"));
  auto file = AtomicFile::create(dir.file("out"));
  REQUIRE(file);
  REQUIRE(file->write("new"));
  fs::create_symlink(dir.file("precious"), dir.file("out"));
  REQUIRE(file->commit());
  CHECK(contents(dir.file("precious")) == "old");
  CHECK_FALSE(fs::is_symlink(dir.file("out")));
  CHECK(contents(dir.file("out")) == "new");
}

TEST_CASE("atomic_file: what the process has open is written to where it is", "[core][atomic_file]") {
  TempDir dir;
  REQUIRE(bagwise::write_file(dir.file("log"), "first\n"));
  const int open_file = open(dir.file("log").c_str(), O_WRONLY | O_APPEND);
  REQUIRE(open_file >= 0);
  for (const char* place : {"/dev/fd/", "/proc/self/fd/"})
    REQUIRE(bagwise::write_file(place + std::to_string(open_file), "more\n"));
  close(open_file);
  CHECK(contents(dir.file("log")) == "first\nmore\nmore\n");
  CHECK_FALSE(bagwise::write_file("/dev/fd/" + std::to_string(open_file), "x"));
}

TEST_CASE("atomic_file: what a killed process left goes with the next file of that name",
          "[core][atomic_file]") {
  TempDir dir;
  const std::string left = dir.file("out.tmp-0123456789abcdef");
  std::ofstream(left) << "half";
  auto alive = AtomicFile::create(dir.file("out"));  // somebody else's
  REQUIRE(alive);
  // Names that are not ours, or no files.
  for (const char* name : {"out.tmp-1", "out.tmp-0123456789abcdeg", "other.tmp-0123456789abcdef"})
    std::ofstream(dir.file(name)) << "mine";
  fs::create_symlink(dir.file("out.tmp-1"), dir.file("out.tmp-aaaaaaaaaaaaaaaa"));
  fs::create_directory(dir.file("out.tmp-bbbbbbbbbbbbbbbb"));
  REQUIRE(bagwise::write_file(dir.file("out"), "whole"));
  CHECK_FALSE(fs::exists(left));
  CHECK(files_in(dir) == 7);
  REQUIRE(alive->write("later"));
  REQUIRE(alive->commit());
  CHECK(contents(dir.file("out")) == "later");
}

TEST_CASE("atomic_file: files of a group appear together", "[core][atomic_file]") {
  TempDir dir;
  REQUIRE(bagwise::write_file(dir.file("old"), "old"));
  {
    bagwise::FileGroup given_up;
    REQUIRE(bagwise::write_file(dir.file("old"), "new", &given_up));
    REQUIRE(bagwise::write_file(dir.file("made"), "new", &given_up));
    CHECK(files_in(dir) == 3);
    CHECK(contents(dir.file("old")) == "old");
  }
  CHECK(files_in(dir) == 1);
  bagwise::FileGroup group;
  REQUIRE(bagwise::write_file(dir.file("old"), "new", &group));
  REQUIRE(bagwise::write_file(dir.file("made"), "new", &group));
  REQUIRE(group.publish());
  CHECK(contents(dir.file("old")) == "new");
  CHECK(contents(dir.file("made")) == "new");
  CHECK(files_in(dir) == 2);
}

TEST_CASE("atomic_file: a group that fails at its last step leaves old files or new ones",
          "[core][atomic_file][badargs]") {
  TempDir dir;
  REQUIRE(bagwise::write_file(dir.file("old"), "old"));
  REQUIRE(bagwise::write_file(dir.file("behind"), "old"));
  {
    bagwise::FileGroup group;
    for (const char* name : {"old", "made", "blocked", "behind"})
      REQUIRE(bagwise::write_file(dir.file(name), "new", &group));
    fs::create_directory(dir.file("blocked"));
    const auto published = group.publish();
    REQUIRE_FALSE(published);
    CHECK(published.error().file == dir.file("blocked"));
  }
  CHECK(contents(dir.file("old")) == "new");
  CHECK(contents(dir.file("behind")) == "old");
  CHECK_FALSE(fs::exists(dir.file("made")));  // there was none
  CHECK(files_in(dir) == 3);
}

TEST_CASE("atomic_file: a process that ends at once takes its temporaries away", "[core][atomic_file]") {
  TempDir dir;
  auto a = AtomicFile::create(dir.file("a")), b = AtomicFile::create(dir.file("b"));
  REQUIRE(a);
  REQUIRE(b);
  const AtomicFile moved = std::move(*a);
  CHECK(files_in(dir) == 2);
  AtomicFile::abandon_all();
  CHECK(files_in(dir) == 0);
}

TEST_CASE("atomic_file: places that cannot be written to are errors that name them",
          "[core][atomic_file][badargs]") {
  TempDir dir;
  const auto missing = bagwise::write_file(dir.file("no/such/file"), "x");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().text() ==
        dir.file("no/such/file") + ": cannot create this file: No such file or directory");
  const auto folder = bagwise::write_file(dir.path.string(), "x");
  REQUIRE_FALSE(folder);
  CHECK(folder.error().text() ==
        dir.path.string() + ": cannot write here: it is a folder; expected a file name");
  const auto empty = bagwise::write_file("", "x");
  REQUIRE_FALSE(empty);
  CHECK(empty.error().text() == "the name of the file to write is empty; expected a file name");
  REQUIRE(bagwise::write_file(dir.file("plain"), "x"));
  CHECK_FALSE(bagwise::write_file(dir.file("plain") + "/below", "x"));
  if (geteuid() != 0) {  // root may write anywhere
    REQUIRE(chmod(dir.file("plain").c_str(), 0444) == 0);
    CHECK_FALSE(bagwise::write_file(dir.file("plain"), "y"));
    CHECK(contents(dir.file("plain")) == "x");
  }
}

TEST_CASE("atomic_file: a full disk is an error", "[core][atomic_file][badargs]") {
  const auto full = bagwise::write_file("/dev/full", "x");
  REQUIRE_FALSE(full);
  CHECK(full.error().text() == "/dev/full: cannot write this file: No space left on device");
  CHECK(bagwise::write_file("/dev/null", "x").ok());
}

TEST_CASE("atomic_file: running out of room midway keeps the old file", "[core][atomic_file][badargs]") {
  TempDir dir;
  REQUIRE(bagwise::write_file(dir.file("f"), "old"));
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit tight = before;
  tight.rlim_cur = 1 << 16;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const auto written = bagwise::write_file(dir.file("f"), std::string(1 << 17, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  REQUIRE_FALSE(written);
  CHECK(written.error().message == "cannot write this file: File too large");
  CHECK(contents(dir.file("f")) == "old");
  CHECK(files_in(dir) == 1);
}

TEST_CASE("atomic_file: read_file gives the bytes back, up to its limit", "[core][atomic_file]") {
  TempDir dir;
  const std::string bytes = std::string(1500000, 'a') + std::string("\0b", 2);
  REQUIRE(bagwise::write_file(dir.file("f"), bytes));
  const auto all = bagwise::read_file(dir.file("f"), bytes.size());
  REQUIRE(all);
  CHECK(*all == bytes);
  const auto too_large = bagwise::read_file(dir.file("f"), bytes.size() - 1);
  REQUIRE_FALSE(too_large);
  CHECK(too_large.error().text() == dir.file("f") + ": is larger than 1500001 bytes");
  CHECK(bagwise::read_file(dir.file("none"), 1).error().text() ==
        dir.file("none") + ": cannot read this file: No such file or directory");
  CHECK_FALSE(bagwise::read_file(dir.path.string(), 1));
  REQUIRE(bagwise::write_file(dir.file("empty"), ""));
  CHECK(bagwise::read_file(dir.file("empty"), 0)->empty());
}
