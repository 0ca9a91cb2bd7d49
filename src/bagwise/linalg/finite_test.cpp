#include "bagwise/linalg/finite.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/core/random.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("finite: the first value that is none is found, wherever it stands", "[linalg][finite]") {
  Rng rng(5);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t rows = 1 + rng.below(trial < 50 ? 40 : 30000), columns = 1 + rng.below(7);
    DenseRows dense(rows, columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) dense(i, j) = rng.below(3) == 0 ? 0 : rng.normal();
    std::size_t first = rows * columns;
    for (std::uint64_t bad = rng.below(4); bad > 0; --bad) {
      const std::size_t at = rng.below(rows * columns);
      const double odd[] = {std::nan(""), kInfinity, -kInfinity};
      dense(at / columns, at % columns) = odd[rng.below(3)];
      first = std::min(first, at);
    }
    const Csr sparse = test::sparse_of(dense.view());
    for (const RowsView& view : {RowsView(dense.view()), RowsView(sparse.view())}) {
      const auto found = first_not_finite(view, 1 + static_cast<unsigned>(rng.below(3)));
      CAPTURE(trial, rows, columns, first);
      REQUIRE(found.has_value() == (first < rows * columns));
      if (!found) continue;
      CHECK(found->row == first / columns);
      CHECK(found->column == first % columns);
      CHECK_FALSE(std::isfinite(found->value));
    }
  }
}

TEST_CASE("finite: huge numbers and none at all are fine", "[linalg][finite]") {
  constexpr double kHuge = std::numeric_limits<double>::max();
  const double values[] = {kHuge, -kHuge, kHuge, kHuge, 5e-324, -0.0};
  CHECK_FALSE(first_not_finite(DenseView{values, 3, 2}));
  CHECK_FALSE(first_not_finite(DenseView{nullptr, 0, 2}));
  CHECK_FALSE(first_not_finite(DenseView{nullptr, 5, 0}));
}

}  // namespace
}  // namespace bagwise
