#include "bagwise/linalg/dense_copy.h"

#include <catch2/catch.hpp>

namespace bagwise {
namespace {

TEST_CASE("dense_copy: sparse rows get their zeros, dense ones stay", "[linalg][dense_copy]") {
  Csr sparse;
  sparse.columns = 3;
  sparse.start = {0, 2, 2, 3};
  sparse.index = {0, 2, 1};
  sparse.values = {1, -2, 3};
  const DenseRows rows = dense_copy(sparse.view());
  const double expected[3][3] = {{1, 0, -2}, {0, 0, 0}, {0, 3, 0}};
  REQUIRE(rows.rows() == 3);
  const DenseRows again = dense_copy(rows.view());
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      CHECK(rows(i, j) == expected[i][j]);
      CHECK(again(i, j) == expected[i][j]);
    }
  }
  CHECK(dense_copy(Csr{}.view()).rows() == 0);
}

}  // namespace
}  // namespace bagwise
