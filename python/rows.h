// Rows of features out of Python's arrays, in place where that can be.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <span>
#include <string>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"

namespace bagwise::python {

namespace py = pybind11;

struct Rows {
  Features features;
  std::vector<std::string> names;  // one per column

  // Row-major float64, kept and not copied.
  static Rows dense(const py::array& values, std::vector<std::string> names);
  // int64, int32 and float64, kept and not copied; columns ascend within a row.
  static Rows csr(const py::array& start, const py::array& index, const py::array& values,
                  std::size_t columns, std::vector<std::string> names);

  // Copies what an Arrow stream gives; messages call it `what`.
  static Rows arrow(const py::capsule& stream, const std::string& what);

  // Copies these columns; -1 is a column of zeros.
  [[nodiscard]] Rows take(const std::vector<std::int64_t>& columns, std::vector<std::string> new_names) const;
};

// Infinity or NaN: an error that says where, in what messages call `what`.
Result<void> check_finite(const Features& features, const std::vector<std::string>& names,
                          const std::string& what, unsigned threads);

// The numbers of a C-contiguous, aligned array of exactly this type and so many dimensions; else a ValueError
// that calls it `what`.
template <class T>
std::span<const T> numbers_of(const py::array& array, py::ssize_t dimensions, const char* what);

// What Python gets: an array of its own.
template <class T>
py::array_t<T> to_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

}  // namespace bagwise::python
