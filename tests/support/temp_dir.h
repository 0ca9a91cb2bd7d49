// A folder of its own for a test's files, removed with all that is in it when the test ends.
#pragma once

#include <stdlib.h>  // mkdtemp is POSIX, not in <cstdlib>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace bagwise::test {

struct TempDir {
  std::filesystem::path path;

  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "bagwise-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  // The path of `name` in the folder, whether or not there is such a file yet.
  [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }
};

}  // namespace bagwise::test
