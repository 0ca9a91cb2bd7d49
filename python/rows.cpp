#include "python/rows.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "bagwise/data/arrow_stream.h"
#include "bagwise/linalg/finite.h"
#include "python/bind.h"
#include "python/result.h"
#include "python/watch.h"

namespace bagwise::python {
namespace {

// Holds on to Python's objects for as long as C++ reads their memory. Whoever lets go last may not have the
// lock, and cannot have it any more where the interpreter is going down: then the process frees the memory
// with all else.
std::shared_ptr<const void> keep(py::object objects) {
  return {new py::object(std::move(objects)), [](const py::object* kept) {
            if (PyGILState_Check() != 0) {
              delete kept;
            } else if (!going_down()) {
              const py::gil_scoped_acquire lock;
              delete kept;
            }
          }};
}

void check_names(std::size_t columns, const std::vector<std::string>& names) {
  if (names.size() != columns)
    throw py::value_error(fmt::format("{} names for {} columns; expected one each", names.size(), columns));
}

// Faults of sparse rows that would be faults of memory.
void check_csr(const CsrView& rows) {
  if (rows.start.front() != 0) throw py::value_error("sparse X: indptr does not begin with 0");
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const auto from = static_cast<std::size_t>(rows.start[i]),
               to = static_cast<std::size_t>(rows.start[i + 1]);
    if (to < from || to > rows.index.size())
      throw py::value_error(
          fmt::format("sparse X: indptr falls or leads beyond the entries at row {}", i + 1));
    std::int64_t last = -1;
    for (std::size_t k = from; k < to; ++k) {
      const std::int64_t column = rows.index[k];
      if (column < 0 || static_cast<std::size_t>(column) >= rows.columns)
        throw py::value_error(fmt::format("sparse X: row {} has column {}; expected 0 to {}", i + 1, column,
                                          static_cast<std::int64_t>(rows.columns) - 1));
      if (column <= last)
        throw py::value_error(
            fmt::format("sparse X: columns of row {} do not ascend; expected sorted indices", i + 1));
      last = column;
    }
  }
}

DenseRows take_columns(const DenseView& rows, const std::vector<std::int64_t>& columns) {
  DenseRows out(rows.rows, columns.size());
  for (std::size_t i = 0; i < rows.rows; ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (columns[j] >= 0) out(i, j) = rows.row(i)[static_cast<std::size_t>(columns[j])];
    }
  }
  return out;
}

Csr take_columns(const CsrView& rows, const std::vector<std::int64_t>& columns) {
  std::vector<std::int32_t> to(rows.columns, -1);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (columns[j] >= 0) to[static_cast<std::size_t>(columns[j])] = static_cast<std::int32_t>(j);
  }
  Csr out;
  out.columns = columns.size();
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    row.clear();
    for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]);
         ++k) {
      const std::int32_t column = to[static_cast<std::size_t>(rows.index[k])];
      if (column >= 0) row.emplace_back(column, rows.values[k]);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) {
      out.index.push_back(column);
      out.values.push_back(value);
    }
    out.start.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

}  // namespace

template <class T>
std::span<const T> numbers_of(const py::array& array, py::ssize_t dimensions, const char* what) {
  const int wanted =
      static_cast<int>(py::array::c_style) | static_cast<int>(py::detail::npy_api::NPY_ARRAY_ALIGNED_);
  if (!py::isinstance<py::array_t<T>>(array) || array.ndim() != dimensions ||
      (array.flags() & wanted) != wanted) {
    throw py::value_error(fmt::format("{} is no row-major {} array of {} dimension(s)", what,
                                      std::string(py::str(py::dtype::of<T>())), dimensions));
  }
  return {static_cast<const T*>(array.data()), static_cast<std::size_t>(array.size())};
}
template std::span<const std::int8_t> numbers_of(const py::array&, py::ssize_t, const char*);
template std::span<const std::uint32_t> numbers_of(const py::array&, py::ssize_t, const char*);
template std::span<const std::int32_t> numbers_of(const py::array&, py::ssize_t, const char*);
template std::span<const std::int64_t> numbers_of(const py::array&, py::ssize_t, const char*);
template std::span<const double> numbers_of(const py::array&, py::ssize_t, const char*);

Rows Rows::dense(const py::array& values, std::vector<std::string> names) {
  const auto numbers = numbers_of<double>(values, 2, "X");
  const DenseView view{numbers.data(), static_cast<std::size_t>(values.shape(0)),
                       static_cast<std::size_t>(values.shape(1))};
  check_names(view.columns, names);
  return {Features::in_place(view, keep(values)), std::move(names)};
}

Rows Rows::csr(const py::array& start, const py::array& index, const py::array& values, std::size_t columns,
               std::vector<std::string> names) {
  CsrView view;
  view.start = numbers_of<std::int64_t>(start, 1, "indptr");
  view.index = numbers_of<std::int32_t>(index, 1, "indices");
  view.values = numbers_of<double>(values, 1, "data");
  if (view.start.empty() || view.index.size() != view.values.size())
    throw py::value_error("sparse X: indptr is empty, or indices and data differ in length");
  view.rows = view.start.size() - 1;
  view.columns = columns;
  check_names(columns, names);
  check_csr(view);
  // Entries beyond the last row are nobody's.
  const auto entries = static_cast<std::size_t>(view.start.back());
  view.index = view.index.first(entries);
  view.values = view.values.first(entries);
  return {Features::in_place(view, keep(py::make_tuple(start, index, values))), std::move(names)};
}

Rows Rows::take(const std::vector<std::int64_t>& columns, std::vector<std::string> new_names) const {
  check_names(columns.size(), new_names);
  for (const std::int64_t column : columns) {
    if (column < -1 || column >= static_cast<std::int64_t>(features.columns()))
      throw py::index_error(fmt::format("there is no column {}", column));
  }
  return {
      std::visit([&](const auto& view) { return Features(take_columns(view, columns)); }, features.view()),
      std::move(new_names)};
}

Result<void> check_finite(const Features& features, const std::vector<std::string>& names,
                          const std::string& what, unsigned threads) {
  const auto place = first_not_finite(features.view(), threads);
  if (!place) return {};
  // As Python writes them: nan of its own kind, else inf.
  const char* value = std::isnan(place->value) ? "NaN" : place->value > 0 ? "inf" : "-inf";
  return Error{fmt::format("is {}; expected a finite number", value),
               fmt::format("{}: row {}", what, place->row + 1), 0,
               fmt::format("{} ({})", place->column + 1, names[place->column])};
}

Rows Rows::arrow(const py::capsule& stream, const std::string& what) {
  constexpr const char* kName = "arrow_array_stream";
  if (stream.name() == nullptr || std::string_view(stream.name()) != kName)
    throw py::type_error("expected a capsule \"arrow_array_stream\", as __arrow_c_stream__() gives");
  auto* const source = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(stream.ptr(), kName));
  if (source->release == nullptr) throw py::value_error("the Arrow stream was read already");
  auto read = [&] {
    const WithoutLock without_lock;
    return read_arrow(*source, what);
  }();
  Dataset data = value_or_raise(std::move(read));
  return {std::move(data.features), std::move(data.feature_names)};
}

void bind_rows(py::module_& module) {
  py::class_<Rows>(module, "Rows")
      .def_static("dense", &Rows::dense, py::arg("values"), py::arg("names"))
      .def_static("csr", &Rows::csr, py::arg("start"), py::arg("index"), py::arg("values"),
                  py::arg("columns"), py::arg("names"))
      .def_static("arrow", &Rows::arrow, py::arg("stream"), py::arg("what") = "X")
      .def_property_readonly("rows", [](const Rows& rows) { return rows.features.rows(); })
      .def_property_readonly("columns", [](const Rows& rows) { return rows.features.columns(); })
      .def_readonly("names", &Rows::names)
      .def_property_readonly("sparse", [](const Rows& rows) { return rows.features.sparse(); })
      .def(
          "renamed",
          [](const Rows& rows, std::vector<std::string> names) {
            check_names(rows.features.columns(), names);
            return Rows{rows.features, std::move(names)};
          },
          py::arg("names"))
      .def("take", &Rows::take, py::arg("columns"), py::arg("names"))
      .def(
          "check_finite",
          [](const Rows& rows, const std::string& what, unsigned threads) {
            raise_if_bad([&] {
              const WithoutLock without_lock;
              return check_finite(rows.features, rows.names, what, threads);
            }());
          },
          py::arg("what"), py::arg("threads") = 0);
}

}  // namespace bagwise::python
