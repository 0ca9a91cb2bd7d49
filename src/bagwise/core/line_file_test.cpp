#include "bagwise/core/line_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/temp_dir.h"

namespace bagwise {
namespace {

std::string bytes_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

TEST_CASE("line_file: what is appended is there for the next to open it", "[core][line_file]") {
  const test::TempDir folder;
  const std::string path = folder.file("lines");
  {
    auto file = LineFile::open(path);
    REQUIRE(file.ok());
    CHECK(file->text().empty());
    REQUIRE(file->append("one\n").ok());
    REQUIRE(file->append("two\n").ok());
    REQUIRE(file->sync().ok());
  }
  auto again = LineFile::open(path);
  REQUIRE(again.ok());
  CHECK(again->text() == "one\ntwo\n");
  REQUIRE(again->append("three\n").ok());
  CHECK(bytes_of(path) == "one\ntwo\nthree\n");
}

TEST_CASE("line_file: what comes after the bytes to keep is cut off, and lines follow them",
          "[core][line_file]") {
  const test::TempDir folder;
  const std::string path = folder.file("lines");
  std::ofstream(path) << "whole\nhal";
  auto file = LineFile::open(path);
  REQUIRE(file.ok());
  REQUIRE(file->keep_first(6).ok());
  REQUIRE(file->append("next\n").ok());
  CHECK(bytes_of(path) == "whole\nnext\n");
}

TEST_CASE("line_file: a locked file is opened once at a time", "[core][line_file]") {
  const test::TempDir folder;
  const std::string path = folder.file("lines");
  {
    const auto first = LineFile::open(path, true);
    REQUIRE(first.ok());
    const auto second = LineFile::open(path, true);
    REQUIRE_FALSE(second.ok());
    CHECK_THAT(second.error().text(), Catch::Contains("another run"));
  }
  CHECK(LineFile::open(path, true).ok());
}

TEST_CASE("line_file: links are not followed, and folders are no files", "[core][line_file]") {
  const test::TempDir folder;
  std::ofstream(folder.file("target")) << "precious";
  std::filesystem::create_symlink(folder.file("target"), folder.file("link"));
  const auto link = LineFile::open(folder.file("link"));
  REQUIRE_FALSE(link.ok());
  CHECK_THAT(link.error().text(), Catch::Contains("is a link"));
  REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  const auto pipe = LineFile::open(folder.file("pipe"));
  REQUIRE_FALSE(pipe.ok());
  CHECK_THAT(pipe.error().text(), Catch::Contains("no ordinary file"));
  CHECK_FALSE(LineFile::open(folder.path.string()).ok());
  CHECK_FALSE(LineFile::open(folder.file("no/such/folder")).ok());
  CHECK(bytes_of(folder.file("target")) == "precious");
}

}  // namespace
}  // namespace bagwise
