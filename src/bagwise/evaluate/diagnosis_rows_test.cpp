#include "bagwise/evaluate/diagnosis_rows.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/random.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

DenseRows coarse_rows(Rng& rng, std::size_t rows, std::size_t columns) {
  DenseRows out(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      out(i, j) = static_cast<double>(rng.below(3)) - 1;
      if (out(i, j) == 0 && rng.below(2) == 0) out(i, j) = -0.0;
    }
  }
  return out;
}

std::vector<double> values(const DenseRows& rows, std::size_t i) {
  std::vector<double> out;
  for (const double v : rows.row(i)) out.push_back(v == 0 ? 0.0 : v);
  return out;
}

TEST_CASE("diagnosis_rows: copies are those that comparing all rows finds", "[evaluate][diagnosis]") {
  Rng rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const DenseRows rows = coarse_rows(rng, 40, 1 + rng.below(4));
    std::vector<std::uint32_t> bags(40);
    for (auto& bag : bags) bag = static_cast<std::uint32_t>(rng.below(5));
    std::map<std::vector<double>, std::vector<std::uint32_t>> seen;
    for (std::size_t i = 0; i < 40; ++i) seen[values(rows, i)].push_back(bags[i]);
    Duplicates dumb;
    for (const auto& [row, where] : seen) {
      dumb.copies += where.size() - 1;
      dumb.groups += where.size() > 1 ? 1 : 0;
      if (std::set<std::uint32_t>(where.begin(), where.end()).size() > 1) dumb.rows_in_bags += where.size();
    }
    const Csr sparse = test::sparse_of(rows.view());
    for (const RowsView& view : {RowsView(rows.view()), RowsView(sparse.view())}) {
      const Duplicates found = find_duplicates(view, bags, 2);
      CHECK(found.copies == dumb.copies);
      CHECK(found.groups == dumb.groups);
      CHECK(found.rows_in_bags == dumb.rows_in_bags);
    }
    const DenseRows others = coarse_rows(rng, 10, rows.columns());
    std::uint64_t shared = 0;
    for (std::size_t i = 0; i < 10; ++i) shared += seen.contains(values(others, i)) ? 1 : 0;
    CHECK(count_shared_rows(others.view(), rows.view()) == shared);
  }
}

TEST_CASE("diagnosis_rows: constant columns are found, dense and sparse", "[evaluate][diagnosis]") {
  DenseRows rows(4, 5);
  for (std::size_t i = 0; i < 4; ++i) {
    rows(i, 1) = 7;                       // constant
    rows(i, 2) = i == 3 ? 1 : 0;          // not, though most are 0
    rows(i, 3) = i == 0 ? 0 : 2;          // not, though its entries are equal
    rows(i, 4) = static_cast<double>(i);  // not
  }
  const std::vector<std::size_t> expected = {0, 1};
  CHECK(constant_columns(rows.view()) == expected);
  const Csr sparse = test::sparse_of(rows.view());
  CHECK(constant_columns(sparse.view()) == expected);
}

TEST_CASE("diagnosis_rows: a feature in far larger units is found", "[evaluate][diagnosis]") {
  Rng rng(2);
  FeatureMoments moments(4);
  for (int i = 0; i < 50; ++i) {
    const double row[] = {rng.normal(), 5.0, 1000 * rng.normal(), 2 * rng.normal()};
    moments.add_row(row);
  }
  const FeatureScales scales = feature_scales(moments);
  CHECK(scales.feature == 2);
  CHECK(scales.unlike());
  CHECK(scales.median == Approx(2).epsilon(0.3));
  CHECK(scales.smallest == Approx(1).epsilon(0.3));
  FeatureMoments alike(1);
  const double one[] = {3.0}, two[] = {4.0};
  alike.add_row(one);
  alike.add_row(two);
  CHECK_FALSE(feature_scales(alike).unlike());
  CHECK_FALSE(feature_scales(FeatureMoments(2)).unlike());
}

}  // namespace
}  // namespace bagwise
