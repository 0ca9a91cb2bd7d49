// What the library returns, as Python has it: values, or a ValueError with the library's own words.
#pragma once

#include <pybind11/pybind11.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "bagwise/core/result.h"

namespace bagwise::python {

namespace py = pybind11;

[[noreturn]] inline void raise(const Error& error) { throw py::value_error(error.text()); }

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}
inline void raise_if_bad(const Result<void>& result) {
  if (!result) raise(result.error());
}

// Dicts, lists, numbers, texts, None.
py::object to_python(const nlohmann::ordered_json& json);

}  // namespace bagwise::python
