#include "bagwise/bags/take_bags.h"

#include <catch2/catch.hpp>

#include "support/bag_problems.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

// Random bags whose rows are in no order, with noise and bounds where asked.
BaggedData scattered_bags(Rng& rng, std::size_t bags, bool sparse, bool noise, bool bounds) {
  BaggedData out = test::random_bags(rng, bags, 3, 5);
  std::vector<std::size_t> order(out.bag_of_row.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  shuffle(std::span(order), rng);
  std::vector<std::uint32_t> bag_of_row;
  for (const std::size_t i : order) bag_of_row.push_back(out.bag_of_row[i]);
  out.bag_of_row = bag_of_row;
  DenseRows rows = take_rows(std::get<DenseView>(out.features.view()), order);
  for (std::size_t i = 0; i < rows.rows(); ++i) rows(i, rng.below(3)) = 0;
  if (sparse) {
    out.features = Features(test::sparse_of(rows.view()));
  } else {
    out.features = Features(std::move(rows));
  }
  for (std::size_t k = 0; noise && k < bags; ++k) out.bags.noise.push_back(rng.uniform());
  for (std::size_t i = 0; bounds && i < order.size(); ++i) out.bounds.push_back(rng.uniform());
  return out;
}

std::vector<std::uint32_t> random_choice(Rng& rng, std::size_t bags) {
  std::vector<std::uint32_t> out;
  const std::size_t count = rng.below(2 * bags);
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<std::uint32_t>(rng.below(bags)));
  return out;
}

std::vector<double> row_of(const Features& features, std::size_t i) {
  const RowsView rows = features.view();
  if (const auto* dense = std::get_if<DenseView>(&rows)) return {dense->row(i).begin(), dense->row(i).end()};
  const CsrView& sparse = std::get<CsrView>(rows);
  std::vector<double> out(sparse.columns, 0.0);
  for (auto e = static_cast<std::size_t>(sparse.start[i]); e < static_cast<std::size_t>(sparse.start[i + 1]);
       ++e)
    out[static_cast<std::size_t>(sparse.index[e])] = sparse.values[e];
  return out;
}

TEST_CASE("take_bags: rows, bounds, noise and names are those of the bags named, in that order",
          "[bags][take_bags]") {
  Rng rng(1);
  for (int round = 0; round < 80; ++round) {
    const std::size_t bags = 2 + rng.below(8);
    const bool sparse = round % 2 == 0, noise = round % 3 == 0, bounds = round % 5 < 2;
    const BaggedData data = scattered_bags(rng, bags, sparse, noise, bounds);
    const auto which = random_choice(rng, bags);
    const BaggedData out = take_bags(data, which);
    // The same by plain loops.
    std::vector<std::vector<double>> rows;
    std::vector<std::uint32_t> bag_of_row;
    std::vector<double> row_bounds, proportions, bag_noise;
    std::vector<std::string> names;
    for (std::uint32_t k = 0; k < which.size(); ++k) {
      names.push_back(data.bags.names[which[k]]);
      proportions.push_back(data.bags.proportions[which[k]]);
      if (noise) bag_noise.push_back(data.bags.noise[which[k]]);
      for (std::size_t i = 0; i < data.bag_of_row.size(); ++i) {
        if (data.bag_of_row[i] != which[k]) continue;
        rows.push_back(row_of(data.features, i));
        bag_of_row.push_back(k);
        if (bounds) row_bounds.push_back(data.bounds[i]);
      }
    }
    CHECK(out.feature_names == data.feature_names);
    CHECK(out.bags.names == names);
    CHECK(out.bags.proportions == proportions);
    CHECK(out.bags.noise == bag_noise);
    CHECK(out.bag_of_row == bag_of_row);
    CHECK(out.bounds == row_bounds);
    CHECK(out.features.sparse() == sparse);
    REQUIRE(out.features.rows() == rows.size());
    CHECK(out.features.columns() == 3);
    for (std::size_t i = 0; i < rows.size(); ++i) CHECK(row_of(out.features, i) == rows[i]);
  }
}

TEST_CASE("take_bags: sums of bags are taken to the bit, and moments stay those of all rows",
          "[bags][take_bags]") {
  Rng rng(2);
  for (int round = 0; round < 40; ++round) {
    const std::size_t bags = 2 + rng.below(8);
    const BaggedData data = scattered_bags(rng, bags, round % 2 == 0, round % 3 == 0, round % 5 < 2);
    const auto which = random_choice(rng, bags);
    const ReducedBags all = reduce(data), out = take_bags(all, which);
    CHECK(out.bags.names == take_bags(data.bags, which).names);
    CHECK(out.bags.noise == take_bags(data.bags, which).noise);
    CHECK(out.has_bounds == all.has_bounds);
    CHECK(out.feature_names == all.feature_names);
    CHECK(out.moments.rows == all.moments.rows);
    CHECK(out.moments.largest == all.moments.largest);
    for (std::size_t j = 0; j < 3; ++j) {
      CHECK(out.moments.mean(j) == all.moments.mean(j));
      CHECK(out.moments.variance(j) == all.moments.variance(j));
    }
    REQUIRE(out.sums.bags() == which.size());
    const DenseRows before = all.sums.means(), after = out.sums.means();
    for (std::size_t k = 0; k < which.size(); ++k) {
      CHECK(out.sums.count(k) == all.sums.count(which[k]));
      CHECK(out.sums.mean_bound(k) == all.sums.mean_bound(which[k]));
      for (std::size_t j = 0; j < 3; ++j) CHECK(after(k, j) == before(which[k], j));
    }
    // What is reduced after taking is what is taken after reducing, but for the order of additions.
    const ReducedBags again = reduce(take_bags(data, which));
    const DenseRows means = again.sums.means();
    for (std::size_t k = 0; k < which.size(); ++k) {
      CHECK(again.sums.count(k) == out.sums.count(k));
      for (std::size_t j = 0; j < 3; ++j) CHECK(means(k, j) == Approx(after(k, j)).margin(1e-14));
    }
  }
}

TEST_CASE("take_bags: the other bags are all but those left out, ascending", "[bags][take_bags]") {
  using Numbers = std::vector<std::uint32_t>;
  CHECK(other_bags(5, Numbers{3, 1}) == Numbers{0, 2, 4});
  CHECK(other_bags(3, Numbers{}) == Numbers{0, 1, 2});
  CHECK(other_bags(3, Numbers{2, 0, 1}).empty());
  CHECK(other_bags(3, Numbers{1, 1}) == Numbers{0, 2});
}

}  // namespace
}  // namespace bagwise
