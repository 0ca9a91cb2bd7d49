#include "bagwise/methods/grouped_rows.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "bagwise/core/random.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

// Rows of small whole numbers (many zeros, many equal beginnings), in three bags.
BaggedData make(Rng& rng, std::size_t n) {
  BaggedData out;
  DenseRows rows(n, 4);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < 4; ++j) rows(i, j) = static_cast<double>(rng.below(4)) - 1;
    out.bag_of_row.push_back(static_cast<std::uint32_t>(rng.below(3)));
  }
  out.features = Features(std::move(rows));
  out.feature_names = {"a", "b", "c", "d"};
  out.bags = {{"p", "q", "r"}, {0.1, 0.5, 0.9}};
  return out;
}

BaggedData permuted(const BaggedData& data, Rng& rng) {
  const auto rows = std::get<DenseView>(data.features.view());
  std::vector<std::size_t> order(rows.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), rng);
  BaggedData out = data;
  DenseRows moved(rows.rows, rows.columns);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::ranges::copy(rows.row(order[i]), moved.row(i).begin());
    out.bag_of_row[i] = data.bag_of_row[order[i]];
  }
  out.features = Features(std::move(moved));
  return out;
}

BaggedData sparse(const BaggedData& data) {
  BaggedData out = data;
  out.features = Features(test::sparse_of(std::get<DenseView>(data.features.view())));
  return out;
}

std::vector<std::vector<double>> table(const Features& features) {
  std::vector<std::vector<double>> out(features.rows(), std::vector<double>(features.columns()));
  std::visit(
      [&]<class View>(const View& view) {
        for (std::size_t i = 0; i < out.size(); ++i) {
          if constexpr (std::is_same_v<View, DenseView>) {
            out[i].assign(view.row(i).begin(), view.row(i).end());
          } else {
            for (auto k = static_cast<std::size_t>(view.start[i]);
                 k < static_cast<std::size_t>(view.start[i + 1]); ++k)
              out[i][static_cast<std::size_t>(view.index[k])] = view.values[k];
          }
        }
      },
      features.view());
  return out;
}

TEST_CASE("grouped_rows: any order of the rows, dense or sparse, gives the same table",
          "[methods][grouped_rows]") {
  Rng rng(3);
  for (int round = 0; round < 50; ++round) {
    const BaggedData data = make(rng, rng.below(40));
    const GroupedRows once = group_rows(data, {});
    for (const BaggedData& other : {permuted(data, rng), sparse(data), sparse(permuted(data, rng))}) {
      const GroupedRows again = group_rows(other, {});
      CHECK(table(again.data.features) == table(once.data.features));
      CHECK(again.bag_start == once.bag_start);
    }
  }
}

TEST_CASE("grouped_rows: bags stand by name, with their proportions and rows", "[methods][grouped_rows]") {
  Rng rng(5);
  const BaggedData data = make(rng, 30);
  BaggedData turned = data;  // r, p, q
  turned.bags = {{"r", "p", "q"}, {0.9, 0.1, 0.5}};
  for (auto& bag : turned.bag_of_row) bag = (bag + 1) % 3;
  const GroupedRows a = group_rows(data, {}), b = group_rows(turned, {});
  CHECK(b.data.bags.names == std::vector<std::string>{"p", "q", "r"});
  CHECK(b.data.bags.proportions == std::vector<double>{0.1, 0.5, 0.9});
  CHECK(table(b.data.features) == table(a.data.features));
  CHECK(b.bag_start == a.bag_start);
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = b.bag_start[k]; i < b.bag_start[k + 1]; ++i) CHECK(b.data.bag_of_row[i] == k);
  }
}

TEST_CASE("grouped_rows: every bag has its own rows, scaled", "[methods][grouped_rows]") {
  Rng rng(4);
  const BaggedData data = make(rng, 60);
  const Scaling scaling{"standard", {1, 0, 2, 0}, {2, 3, 1, 0.5}};
  const auto rows = table(data.features);
  for (const BaggedData& given : {data, sparse(data)}) {
    const GroupedRows grouped = group_rows(given, scaling);
    const auto found = table(grouped.data.features);
    REQUIRE(grouped.bags() == 3);
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<std::vector<double>> expected,
          have(found.begin() + static_cast<std::ptrdiff_t>(grouped.bag_start[k]),
               found.begin() + static_cast<std::ptrdiff_t>(grouped.bag_start[k + 1]));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (data.bag_of_row[i] != k) continue;
        expected.emplace_back();
        for (std::size_t j = 0; j < 4; ++j)
          expected.back().push_back((rows[i][j] - scaling.shift[j]) * scaling.factor[j]);
      }
      std::ranges::sort(expected);
      CHECK(have == expected);
    }
  }
}

TEST_CASE("grouped_rows: noise goes with its bag", "[methods][grouped_rows]") {
  Rng rng(9);
  BaggedData data = make(rng, 10);
  data.bags = {{"r", "p", "q"}, {0.9, 0.1, 0.5}, {0.3, 0.1, 0.2}};
  CHECK(group_rows(data, {}).data.bags.noise == std::vector<double>{0.1, 0.2, 0.3});
}

}  // namespace
}  // namespace bagwise
