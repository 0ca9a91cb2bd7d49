#include "bagwise/linalg/rows.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

namespace {

using bagwise::DenseRows;

// A table whose entry (i, j) tells where it is.
DenseRows numbered(std::size_t rows, std::size_t columns) {
  DenseRows out(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    double* row = out.append(1);
    for (std::size_t j = 0; j < columns; ++j) row[j] = static_cast<double>(1000 * i + j);
  }
  return out;
}

bool is_numbered(const DenseRows& table, std::size_t rows, std::size_t columns) {
  if (table.rows() != rows || table.columns() != columns) return false;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (table(i, j) != static_cast<double>(1000 * i + j) || table.row(i)[j] != table(i, j)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("rows: dense rows keep their values while they grow", "[linalg][rows]") {
  for (const std::size_t rows : {0U, 1U, 2U, 3U, 100U, 5000U}) {
    for (const std::size_t columns : {1U, 3U, 17U})
      REQUIRE(is_numbered(numbered(rows, columns), rows, columns));
  }
}

TEST_CASE("rows: appended blocks follow each other", "[linalg][rows]") {
  DenseRows table(2);
  double* first = table.append(3);
  for (int k = 0; k < 6; ++k) first[k] = k;
  table.shrink_to_fit();
  double* second = table.append(2);
  for (int k = 0; k < 4; ++k) second[k] = 6 + k;
  CHECK(table.append(0) == table.view().values + 10);
  REQUIRE(table.rows() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 2; ++j) CHECK(table(i, j) == static_cast<double>(2 * i + j));
  }
}

TEST_CASE("rows: a sized table is zeros", "[linalg][rows]") {
  const DenseRows table(3, 4);
  for (std::size_t i = 0; i < 3; ++i) {
    for (const double x : table.row(i)) CHECK(x == 0);
  }
  CHECK(DenseRows(0, 4).rows() == 0);
  CHECK(DenseRows(4, 0).rows() == 4);
}

TEST_CASE("rows: copies are apart, moves leave an empty table behind", "[linalg][rows]") {
  DenseRows original = numbered(10, 3);
  DenseRows copy = original;
  copy(0, 0) = -1;
  CHECK(is_numbered(original, 10, 3));
  CHECK(copy(0, 0) == -1);
  DenseRows moved = std::move(original);
  CHECK(is_numbered(moved, 10, 3));
  CHECK(original.rows() == 0);  // NOLINT: what a moved-from table is, is being tested
  original.append(1)[0] = 5;
  CHECK(original(0, 0) == 5);
  copy = moved;
  CHECK(is_numbered(copy, 10, 3));
  copy = std::move(moved);
  CHECK(is_numbered(copy, 10, 3));
  DenseRows& itself = copy;
  copy = itself;
  CHECK(is_numbered(copy, 10, 3));
  const DenseRows empty_copy = DenseRows(5);
  CHECK(empty_copy.rows() == 0);
  CHECK(empty_copy.columns() == 5);
}

TEST_CASE("rows: views tell their size, dense or sparse", "[linalg][rows]") {
  const DenseRows dense(3, 4);
  CHECK(bagwise::row_count(dense.view()) == 3);
  CHECK(bagwise::column_count(dense.view()) == 4);
  bagwise::Csr sparse;
  sparse.columns = 9;
  CHECK(bagwise::row_count(sparse.view()) == 0);
  sparse.start.push_back(0);
  CHECK(bagwise::row_count(sparse.view()) == 1);
  CHECK(bagwise::column_count(sparse.view()) == 9);
}
