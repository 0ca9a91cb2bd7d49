#include "bagwise/core/atomic_file.h"

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

TEST_CASE("atomic_file: a symbolic link is followed, not replaced", "[core][atomic_file]") {
  TempDir dir;
  REQUIRE(bagwise::write_file(dir.file("real"), "old"));
  fs::create_symlink(dir.file("real"), dir.file("link"));
  REQUIRE(bagwise::write_file(dir.file("link"), "new"));
  CHECK(fs::is_symlink(dir.file("link")));
  CHECK(contents(dir.file("real")) == "new");
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
