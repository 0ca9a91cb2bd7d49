// What the header of a NumPy file (.npy) says: a table of numbers, or records with named fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/result.h"

namespace bagwise::internal {

inline constexpr std::string_view kNpyMark = "\x93NUMPY";

struct NpyColumn {
  enum class Kind { kFloat, kSigned, kUnsigned, kBool, kBytes, kUnicode };
  std::string name;
  Kind kind = Kind::kFloat;
  std::uint64_t size = 8;                // bytes of an element; of text, of the whole of it
  bool swapped = false;                  // the highest byte comes first
  std::uint64_t offset = 0, stride = 0;  // of row i: offset + i * stride, from the data's start

  [[nodiscard]] bool text() const { return kind == Kind::kBytes || kind == Kind::kUnicode; }
};

struct NpyHeader {
  std::vector<NpyColumn> columns;
  std::uint64_t rows = 0;
  std::uint64_t data = 0;       // where the data begin in the file
  std::uint64_t row_bytes = 0;  // what a row takes of them
  bool plain = false;           // float64, row by row: usable where they lie
};

// `bytes` is the whole file; every size is checked against it.
Result<NpyHeader> read_npy_header(std::string_view bytes, const std::string& file);

}  // namespace bagwise::internal
