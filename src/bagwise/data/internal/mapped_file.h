// MappedFile: a file's bytes as memory, for reading.
//
// Pages that were used are given back, so that what a process holds of a large file stays small. A file that
// shrinks while it is mapped would end the process (SIGBUS): whoever reads asks shrunk() before each piece,
// which leaves the moment between the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bagwise/core/result.h"

namespace bagwise::internal {

class MappedFile {
  struct Key {};  // open() alone makes these

 public:
  explicit MappedFile(Key) {}
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const char* data() const { return data_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool shrunk() const;
  // Gives back the pages that lie wholly within these bytes, and asks for those behind them in time.
  void release(const char* from, std::size_t bytes) const;

 private:
  int descriptor_ = -1;
  const char* data_ = nullptr;
  std::uint64_t size_ = 0;
};

// The first `size` bytes of a plain file, fewer if it has fewer; nothing of what is no plain file.
Result<std::string> first_bytes(const std::string& path, std::size_t size);

}  // namespace bagwise::internal
