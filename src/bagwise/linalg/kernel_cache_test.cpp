#include "bagwise/linalg/kernel_cache.h"

#include <catch2/catch.hpp>

#include "bagwise/core/parallel.h"
#include "bagwise/core/random.h"

namespace bagwise {
namespace {

DenseRows random_rows(Rng& rng, std::size_t n, std::size_t d) {
  DenseRows out(n, d);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) out(i, j) = rng.normal();
  }
  return out;
}

TEST_CASE("kernel_cache: columns are those of the kernel, whatever the room", "[linalg][kernel_cache]") {
  Rng rng(1);
  const DenseRows rows = random_rows(rng, 30, 4);
  for (const KernelKind kind : {KernelKind::kLinear, KernelKind::kRbf, KernelKind::kPoly}) {
    const KernelFunction kernel{kind, 0.3, 2};
    RowMatrix whole;
    kernel_block(kernel, rows.view(), rows.view(), whole);
    KernelCache large(kernel, rows.view(), 1 << 20), small(kernel, rows.view(), 3 * 30 * sizeof(double)),
        least(kernel, rows.view(), 0);
    for (int ask = 0; ask < 300; ++ask) {
      const std::size_t i = rng.below(30);
      const auto column = large.column(i);
      REQUIRE(column->size() == 30);
      CHECK(*small.column(i) == *column);
      CHECK(*least.column(i) == *column);
      for (std::size_t j = 0; j < 30; ++j)
        CHECK((*column)[j] ==
              Approx(whole(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j))).margin(1e-13));
      CHECK(large.diagonal()[i] == Approx((*column)[i]).epsilon(1e-13));
    }
    CHECK(large.computed() == 30);
    CHECK(small.computed() > 100);
  }
}

TEST_CASE("kernel_cache: the column used longest ago makes way", "[linalg][kernel_cache]") {
  Rng rng(2);
  const DenseRows rows = random_rows(rng, 10, 2);
  KernelCache cache({KernelKind::kRbf, 1, 1}, rows.view(), 2 * 10 * sizeof(double));
  const auto first = cache.column(0);
  static_cast<void>(cache.column(1));
  static_cast<void>(cache.column(0));
  static_cast<void>(cache.column(2));  // 1 goes
  CHECK(cache.computed() == 3);
  static_cast<void>(cache.column(0));
  CHECK(cache.computed() == 3);
  static_cast<void>(cache.column(1));  // 2 goes
  CHECK(cache.computed() == 4);
  static_cast<void>(cache.column(3));  // 0 goes, but who holds it has it still
  CHECK((*first)[0] == 1);
  CHECK(*cache.column(0) == *first);
}

TEST_CASE("kernel_cache: threads that ask at once get the same columns", "[linalg][kernel_cache]") {
  Rng rng(3);
  const DenseRows rows = random_rows(rng, 50, 3);
  const KernelFunction kernel{KernelKind::kRbf, 0.5, 1};
  KernelCache alone(kernel, rows.view(), 1 << 20), shared(kernel, rows.view(), 5 * 50 * sizeof(double));
  std::vector<int> same(8, 0);
  parallel_for(8, 4, [&](std::size_t piece) {
    Rng own(4, piece);
    for (int ask = 0; ask < 200; ++ask) {
      const std::size_t i = own.below(50);
      same[piece] += *shared.column(i) == *alone.column(i) ? 1 : 0;
    }
  });
  for (const int count : same) CHECK(count == 200);
}

}  // namespace
}  // namespace bagwise
