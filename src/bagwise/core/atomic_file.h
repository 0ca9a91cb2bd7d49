// Writing a file whole or not at all: a temporary beside it, synced, then renamed over it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/result.h"

namespace bagwise {

// A file in the making. Until commit() the old file is untouched; without a commit() nothing is left behind.
// Devices and pipes are written to directly.
class AtomicFile {
 public:
  // Fails where the folder does not exist or cannot be written to.
  static Result<AtomicFile> create(std::string path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  Result<void> write(std::string_view bytes);  // buffered
  Result<void> commit();                       // flush, sync, rename

 private:
  AtomicFile() = default;
  Result<void> flush();
  Error fault(std::string_view doing, int code) const;

  std::string path_;         // as the user gave it
  std::string destination_;  // the same, with symbolic links followed
  std::string temporary_;    // empty: written to directly, or committed
  std::string buffer_;
  int descriptor_ = -1;
};

// The whole of `bytes` into `path`, or an error and no change.
Result<void> write_file(const std::string& path, std::string_view bytes);

// The whole file; an error if it cannot be read or is larger than `limit` bytes.
Result<std::string> read_file(const std::string& path, std::uint64_t limit);

}  // namespace bagwise
