#include "bagwise/linalg/rows.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace bagwise {

std::size_t row_count(const RowsView& rows) {
  return std::visit([](const auto& v) { return v.rows; }, rows);
}
std::size_t column_count(const RowsView& rows) {
  return std::visit([](const auto& v) { return v.columns; }, rows);
}

std::span<const double> stored_values(const RowsView& rows) {
  if (const auto* dense = std::get_if<DenseView>(&rows)) return {dense->values, dense->rows * dense->columns};
  return std::get<CsrView>(rows).values;
}

DenseRows::DenseRows(std::size_t rows, std::size_t columns) : columns_(columns) {
  std::fill_n(append(rows), rows * columns, 0.0);
}

DenseRows::DenseRows(const DenseRows& other) : columns_(other.columns_) {
  double* to = append(other.rows_);
  if (other.rows_ * columns_ > 0) std::memcpy(to, other.values_, other.rows_ * columns_ * sizeof(double));
}

DenseRows::DenseRows(DenseRows&& other) noexcept
    : values_(std::exchange(other.values_, nullptr)),
      rows_(std::exchange(other.rows_, 0)),
      columns_(other.columns_),
      capacity_(std::exchange(other.capacity_, 0)) {}

DenseRows& DenseRows::operator=(DenseRows other) noexcept {
  std::swap(values_, other.values_);
  std::swap(rows_, other.rows_);
  std::swap(columns_, other.columns_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

DenseRows::~DenseRows() { std::free(values_); }

void DenseRows::resize_storage(std::size_t values) {
  // glibc grows large blocks by mremap: no copy, and pages never touched take no memory.
  void* grown = std::realloc(values_, std::max<std::size_t>(values, 1) * sizeof(double));
  if (grown == nullptr) throw std::bad_alloc();
  values_ = static_cast<double*>(grown);
  capacity_ = values;
}

double* DenseRows::append(std::size_t count) {
  const std::size_t needed = (rows_ + count) * columns_;
  if (needed > capacity_ || values_ == nullptr) resize_storage(std::max(needed, capacity_ + capacity_ / 2));
  double* start = values_ + rows_ * columns_;
  rows_ += count;
  return start;
}

void DenseRows::shrink_to_fit() { resize_storage(rows_ * columns_); }

DenseRows take_rows(const DenseView& rows, std::span<const std::size_t> which) {
  DenseRows out(rows.columns);
  double* place = out.append(which.size());
  for (const std::size_t i : which) place = std::ranges::copy(rows.row(i), place).out;
  return out;
}

Csr take_rows(const CsrView& rows, std::span<const std::size_t> which) {
  Csr out;
  out.columns = rows.columns;
  for (const std::size_t i : which) {
    const auto begin = static_cast<std::size_t>(rows.start[i]);
    const auto count = static_cast<std::size_t>(rows.start[i + 1]) - begin;
    std::ranges::copy(rows.index.subspan(begin, count), std::back_inserter(out.index));
    std::ranges::copy(rows.values.subspan(begin, count), std::back_inserter(out.values));
    out.start.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

}  // namespace bagwise
