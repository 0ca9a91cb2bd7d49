#include "bagwise/data/dataset.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "bagwise/core/random.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

TEST_CASE("dataset: features in place are the very values, and are held on to by every copy",
          "[data][dataset]") {
  auto values = std::make_shared<std::vector<double>>(std::vector<double>{1, 2, 3, 4, 5, 6});
  const double* const place = values->data();
  std::weak_ptr<std::vector<double>> alive = values;
  {
    Features copy;
    {
      const Features features = Features::in_place(DenseView{place, 3, 2}, values);
      values.reset();
      CHECK(features.rows() == 3);
      CHECK(features.columns() == 2);
      CHECK_FALSE(features.sparse());
      copy = features;
    }
    REQUIRE_FALSE(alive.expired());
    CHECK(std::get<DenseView>(copy.view()).values == place);
    const Features moved = std::move(copy);
    CHECK(std::get<DenseView>(moved.view()).row(2)[1] == 6);
  }
  CHECK(alive.expired());
}

TEST_CASE("dataset: rows taken from features in place are those taken from owned ones", "[data][dataset]") {
  Rng rng(3);
  DenseRows dense(20, 4);
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 4; ++j) dense(i, j) = rng.below(2) == 0 ? 0 : rng.normal();
  const Csr sparse = test::sparse_of(dense.view());
  const std::vector<std::size_t> which = {19, 0, 7, 7};
  const Features borrowed = Features::in_place(dense.view()), thin = Features::in_place(sparse.view());
  CHECK(thin.sparse());
  const Features rows = take_rows(borrowed.view(), which), thin_rows = take_rows(thin.view(), which);
  CHECK(thin_rows.sparse());
  const auto taken = std::get<DenseView>(rows.view());
  const auto expected = test::sparse_of(taken);
  const auto found = std::get<CsrView>(thin_rows.view());
  for (std::size_t i = 0; i < which.size(); ++i) {
    for (std::size_t j = 0; j < 4; ++j) CHECK(taken.row(i)[j] == dense(which[i], j));
  }
  CHECK(std::vector<double>(found.values.begin(), found.values.end()) == expected.values);
}

}  // namespace
}  // namespace bagwise
