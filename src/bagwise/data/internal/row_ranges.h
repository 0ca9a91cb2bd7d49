// Where rows begin in a text file that is read from somewhere in its middle.
//
// A newline within double quotes ends no row, so what a newline is depends on how many quotes came before it,
// from the file's start on. They are counted, at about the speed of memory: no guess that fails on odd input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bagwise/core/result.h"
#include "bagwise/data/internal/byte_source.h"

namespace bagwise::internal {

// Behind the first newline of `text` outside quotes that is at `from` or later; none if there is none.
// `inside` is whether `text` begins within quotes, and then whether it ends so.
std::optional<std::size_t> first_row_behind(std::string_view text, std::size_t from, bool quotes,
                                            bool& inside);

struct RowStart {
  std::uint64_t offset = 0;  // of the file
  std::uint64_t line = 1;
};

// The first row of a plain file that begins at byte `at` > 0 or later; the file's end if there is none.
Result<RowStart> find_row(const std::string& path, std::uint64_t at, bool quotes, const Waiting& waiting);

}  // namespace bagwise::internal
