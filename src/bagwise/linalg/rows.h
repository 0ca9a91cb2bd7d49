// Tables of numbers by rows: dense row-major or compressed sparse rows, owned or viewed.
//
// What is done with them (products, Gram matrices) is in kernels.h.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace bagwise {

using Vector = Eigen::VectorXd;
using ColMatrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using VectorRef = Eigen::Ref<const Eigen::VectorXd>;

// Another shape for a matrix whose values are not needed any more. Eigen's own resize() frees the old values
// first; where there is then no memory for new ones it leaves them to be freed once more.
template <class Matrix>
void reshape(Matrix& matrix, Eigen::Index rows, Eigen::Index columns) {
  if (matrix.size() != rows * columns) matrix = Matrix();
  matrix.resize(rows, columns);
}

// Dense rows, one after the other; rows * columns values.
struct DenseView {
  const double* values = nullptr;
  std::size_t rows = 0, columns = 0;

  [[nodiscard]] std::span<const double> row(std::size_t i) const { return {values + i * columns, columns}; }
  [[nodiscard]] Eigen::Map<const RowMatrix> matrix() const {
    return {values, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
  }
};

// Sparse rows: row i holds values[k] at column index[k] for k in [start[i], start[i+1]), columns ascending.
struct CsrView {
  std::span<const std::int64_t> start;  // rows + 1 entries
  std::span<const std::int32_t> index;
  std::span<const double> values;
  std::size_t rows = 0, columns = 0;
};

// The two forms in which rows reach a computation; a view owns nothing.
using RowsView = std::variant<DenseView, CsrView>;

std::size_t row_count(const RowsView& rows);
std::size_t column_count(const RowsView& rows);
// Every value that is stored, row by row: of sparse rows the entries alone.
std::span<const double> stored_values(const RowsView& rows);

struct Csr {
  std::vector<std::int64_t> start = {0};
  std::vector<std::int32_t> index;
  std::vector<double> values;
  std::size_t columns = 0;

  [[nodiscard]] std::size_t rows() const { return start.size() - 1; }
  [[nodiscard]] CsrView view() const { return {start, index, values, rows(), columns}; }
};

// Dense rows that can grow without ever being held twice (large blocks grow by remapping, not copying).
class DenseRows {
 public:
  explicit DenseRows(std::size_t columns = 0) : columns_(columns) {}
  DenseRows(std::size_t rows, std::size_t columns);  // zeros
  DenseRows(const DenseRows& other);
  DenseRows(DenseRows&& other) noexcept;
  DenseRows& operator=(DenseRows other) noexcept;
  ~DenseRows();

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    return {values_ + i * columns_, columns_};
  }
  [[nodiscard]] std::span<double> row(std::size_t i) { return {values_ + i * columns_, columns_}; }
  [[nodiscard]] DenseView view() const { return {values_, rows_, columns_}; }
  double& operator()(std::size_t i, std::size_t j) { return values_[i * columns_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * columns_ + j]; }

  // Appends `count` rows of unset values and returns where they start.
  double* append(std::size_t count);
  void shrink_to_fit();

 private:
  void resize_storage(std::size_t values);

  double* values_ = nullptr;
  std::size_t rows_ = 0, columns_ = 0, capacity_ = 0;
};

// The rows of the given numbers, in that order.
DenseRows take_rows(const DenseView& rows, std::span<const std::size_t> which);
Csr take_rows(const CsrView& rows, std::span<const std::size_t> which);

}  // namespace bagwise
