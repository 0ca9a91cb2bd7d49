// PartFile: text that one rank holds back on disk until it is its turn, under no name: it is gone with the
// process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bagwise/core/result.h"

namespace bagwise::cli {

class PartFile {
 public:
  // In the folder TMPDIR, or /tmp.
  static Result<PartFile> create();
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&& other) noexcept;
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile();

  Result<void> write(std::string_view bytes);
  // The next whole lines, of about so many bytes, from the first on; empty at the end. After the last write.
  Result<std::string> next_lines(std::size_t about);

 private:
  PartFile() = default;
  [[nodiscard]] Error fault(const char* doing) const;

  std::string folder_;
  std::string rest_;  // of a line, already read
  std::uint64_t read_ = 0;
  int descriptor_ = -1;
};

}  // namespace bagwise::cli
