// A name out of Python as a value of one of the library's enumerations.
#pragma once

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <string>

#include "bagwise/core/options.h"

namespace bagwise::python {

template <class E>
E choice(const char* what, const std::string& text) {
  for (const auto& [name, value] : names(E{})) {
    if (name == text) return value;
  }
  throw pybind11::value_error(
      fmt::format("{}: \"{}\" is not one of {}", what, text, fmt::join(choices_of<E>(), ", ")));
}

}  // namespace bagwise::python
