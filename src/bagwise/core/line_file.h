// A file of lines that only grows, for what must outlive a crash: each line is written whole, at once.
//
// What it means that a last line is not whole is decided by whoever reads it: keep_first() cuts it off.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bagwise/core/result.h"

namespace bagwise {

class LineFile {
 public:
  // Opens or makes the file, and reads it. Symbolic links are not followed. Locked: no other process may open
  // it so at the same time, which is an error that says so.
  static Result<LineFile> open(const std::string& path, bool locked = false);

  LineFile(LineFile&& other) noexcept;
  LineFile& operator=(LineFile&& other) noexcept;
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  ~LineFile();

  [[nodiscard]] const std::string& text() const { return text_; }  // as it was when it was opened
  Result<void> keep_first(std::size_t bytes);                      // cuts off what comes after
  Result<void> append(std::string_view line);                      // with its end
  Result<void> sync();                                             // what was appended is on the disk

 private:
  LineFile() = default;
  [[nodiscard]] Error fault(const char* doing) const;

  std::string path_, text_;
  int descriptor_ = -1;
};

}  // namespace bagwise
