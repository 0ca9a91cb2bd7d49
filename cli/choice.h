// From the text of a choice, already checked by the parser, to its enumerator.
#pragma once

#include <cassert>
#include <string>

namespace bagwise::cli {

// E has a names() overload, as core/options.h describes.
template <class E>
E choice(const std::string& text) {
  for (const auto& [name, value] : names(E{})) {
    if (name == text) return value;
  }
  assert(false);
  return E{};
}

}  // namespace bagwise::cli
