#include "bagwise/bags/bag_sums.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/random.h"

namespace {

using bagwise::BagSums;
using bagwise::DenseRows;
using bagwise::FeatureMoments;
using bagwise::Rng;

__extension__ using Quad = __float128;  // 113 bits: the dumb twin's sums are as good as exact

struct Row {
  std::size_t bag;
  std::vector<double> values;
  double bound;
};

// Rows of very different magnitudes, a third of the entries 0.
std::vector<Row> random_rows(std::size_t count, std::size_t bags, std::size_t features, Rng& rng) {
  std::vector<Row> out;
  for (std::size_t i = 0; i < count; ++i) {
    Row row{static_cast<std::size_t>(rng.below(bags)), {}, rng.uniform()};
    for (std::size_t j = 0; j < features; ++j) {
      row.values.push_back(
          rng.below(3) == 0 ? 0 : std::ldexp(rng.normal(), static_cast<int>(rng.below(30)) - 15));
    }
    out.push_back(std::move(row));
  }
  return out;
}

void add_sparse(BagSums& sums, const Row& row) {
  std::vector<std::int32_t> index;
  std::vector<double> values;
  for (std::size_t j = 0; j < row.values.size(); ++j) {
    if (row.values[j] == 0) continue;
    index.push_back(static_cast<std::int32_t>(j));
    values.push_back(row.values[j]);
  }
  sums.add_sparse_row(row.bag, index, values, row.bound);
}

// Every sum, mean, count and bound against the twin; errors are measured against the sum of magnitudes.
void check_against_twin(const BagSums& sums, const std::vector<Row>& rows, double tolerance = 1e-15) {
  const DenseRows means = sums.means();
  REQUIRE(means.rows() == sums.bags());
  bool right = true;
  for (std::size_t k = 0; k < sums.bags(); ++k) {
    std::uint64_t count = 0;
    Quad bound = 0;
    for (const Row& row : rows) {
      if (row.bag != k) continue;
      ++count;
      bound += static_cast<Quad>(row.bound);
    }
    right = right && sums.count(k) == count;
    right = right && std::abs(sums.bound_sum(k) - static_cast<double>(bound)) <=
                         tolerance * static_cast<double>(bound);
    const double mean_bound = count == 0 ? 0 : static_cast<double>(bound) / static_cast<double>(count);
    right = right && std::abs(sums.mean_bound(k) - mean_bound) <= 2 * tolerance * mean_bound;
    for (std::size_t j = 0; j < sums.features(); ++j) {
      Quad sum = 0;
      for (const Row& row : rows) {
        if (row.bag == k) sum += static_cast<Quad>(row.values[j]);
      }
      const double exact = static_cast<double>(sum);
      right = right && std::abs(sums.sum(k, j) - exact) <= tolerance * std::abs(exact);
      const double mean = count == 0 ? 0 : exact / static_cast<double>(count);
      right = right && std::abs(means(k, j) - mean) <= 2 * tolerance * std::abs(mean);
    }
  }
  CHECK(right);
}

}  // namespace

TEST_CASE("bag_sums: sums, means and counts are the exact ones, dense and sparse", "[bags][bag_sums]") {
  Rng rng(1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const std::size_t bags = 1 + rng.below(6), features = 1 + rng.below(9);
    const auto rows = random_rows(rng.below(200), bags, features, rng);
    BagSums dense(bags, features), sparse(bags, features);
    for (const Row& row : rows) {
      dense.add_row(row.bag, row.values, row.bound);
      add_sparse(sparse, row);
    }
    check_against_twin(dense, rows);
    check_against_twin(sparse, rows);
  }
}

TEST_CASE("bag_sums: parts merged in any grouping and order agree to 1e-14", "[bags][bag_sums]") {
  Rng rng(2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const std::size_t bags = 5, features = 4;
    auto rows = random_rows(300, bags, features, rng);
    std::vector<BagSums> parts(1 + rng.below(8), BagSums(bags, features));
    for (const Row& row : rows) parts[rng.below(parts.size())].add_row(row.bag, row.values, row.bound);
    bagwise::shuffle(std::span<BagSums>(parts), rng);
    while (parts.size() > 1) {  // any tree
      const BagSums last = parts.back();
      parts.pop_back();
      parts[rng.below(parts.size())].merge(last);
    }
    check_against_twin(parts[0], rows, 1e-14);
  }
}

TEST_CASE("bag_sums: cancellation costs nothing", "[bags][bag_sums][known]") {
  BagSums sums(1, 3);
  sums.add_row(0, std::vector<double>{1e16, 1, 0.1}, 0);
  sums.add_row(0, std::vector<double>{1, 1e100, -0.1}, 0);
  sums.add_row(0, std::vector<double>{-1e16, -1e100, 1e-20}, 0);
  CHECK(sums.sum(0, 0) == 1);
  CHECK(sums.sum(0, 1) == 1);
  CHECK(sums.sum(0, 2) == 1e-20);
  BagSums left(1, 1), right(1, 1);
  left.add_row(0, std::vector<double>{1e16}, 0);
  left.add_row(0, std::vector<double>{1}, 0);
  right.add_row(0, std::vector<double>{-1e16}, 0);
  left.merge(right);
  CHECK(left.sum(0, 0) == 1);
}

TEST_CASE("bag_sums: merge sends bags where it is told", "[bags][bag_sums]") {
  BagSums big(3, 1), part(2, 1);
  big.add_row(0, std::vector<double>{1}, 0.5);
  part.add_row(0, std::vector<double>{10}, 1);
  part.add_row(1, std::vector<double>{100}, 2);
  big.merge(part, std::vector<std::uint32_t>{2, 0});
  CHECK(big.sum(0, 0) == 101);
  CHECK(big.sum(1, 0) == 0);
  CHECK(big.sum(2, 0) == 10);
  CHECK(big.count(0) == 2);
  CHECK(big.bound_sum(0) == 2.5);
  BagSums folded(1, 1);
  folded.merge(part, std::vector<std::uint32_t>{0, 0});  // two bags into one
  CHECK(folded.sum(0, 0) == 110);
  CHECK(folded.count(0) == 2);
}

TEST_CASE("bag_sums: growing and reordering keep every bag whole", "[bags][bag_sums]") {
  BagSums sums(0, 2);
  for (std::size_t k = 0; k < 4; ++k) {
    sums.grow(k + 1);
    sums.add_row(k, std::vector<double>{static_cast<double>(k), -static_cast<double>(k)},
                 static_cast<double>(k));
  }
  sums.grow(2);  // never shrinks
  REQUIRE(sums.bags() == 4);
  const BagSums other = sums.reordered(std::vector<std::uint32_t>{3, 1, 1});
  REQUIRE(other.bags() == 3);
  CHECK(other.features() == 2);
  CHECK(other.sum(0, 0) == 3);
  CHECK(other.sum(1, 1) == -1);
  CHECK(other.sum(2, 1) == -1);
  CHECK(other.count(0) == 1);
  CHECK(other.bound_sum(0) == 3);
  CHECK(sums.means()(3, 1) == -3);
}

TEST_CASE("bag_sums: a bag without rows has mean 0 and bound 0", "[bags][bag_sums]") {
  const BagSums sums(2, 3);
  CHECK(sums.count(1) == 0);
  CHECK(sums.means()(1, 2) == 0);
  CHECK(sums.mean_bound(1) == 0);
}

TEST_CASE("feature_moments: sums, squares and extremes merge like one pass", "[bags][feature_moments]") {
  Rng rng(3);
  const auto rows = random_rows(200, 1, 3, rng);
  FeatureMoments all(3), left(3), right(3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all.add_row(rows[i].values);
    std::vector<std::int32_t> index = {0, 1, 2};
    if (i % 2 == 0) {
      left.add_row(rows[i].values);
    } else {
      right.add_sparse_row(index, rows[i].values);
    }
  }
  left.merge(right);
  CHECK(left.rows == 200);
  for (std::size_t j = 0; j < 3; ++j) {
    Quad sum = 0, squares = 0;
    double largest = 0;
    for (const Row& row : rows) {
      sum += static_cast<Quad>(row.values[j]);
      squares += static_cast<Quad>(row.values[j] * row.values[j]);
      largest = std::max(largest, std::abs(row.values[j]));
    }
    for (const FeatureMoments& moments : {all, left}) {
      CHECK(moments.sum[j].value() == Approx(static_cast<double>(sum)).epsilon(1e-14));
      CHECK(moments.sum_of_squares[j].value() == Approx(static_cast<double>(squares)).epsilon(1e-14));
      CHECK(moments.largest[j] == largest);
    }
  }
}

TEST_CASE("bag_sums: sparse sums are those of dense ones", "[bags][bag_sums]") {
  using namespace bagwise;
  Rng rng(21);
  constexpr std::size_t kFeatures = 60, kBags = 4;
  for (int round = 0; round < 5; ++round) {
    BagSums dense(kBags, kFeatures), sparse(kBags, kFeatures, BagSums::Layout::kSparse);
    BagSums part(kBags, kFeatures, BagSums::Layout::kSparse), dense_part(kBags, kFeatures);
    for (int i = 0; i < 400; ++i) {
      std::vector<std::int32_t> index;
      std::vector<double> values;
      for (std::int32_t j = 0; j < static_cast<std::int32_t>(kFeatures); ++j) {
        if (rng.below(8) == 0) index.push_back(j), values.push_back(rng.normal() * 1e6 + 1);
      }
      const std::size_t bag = rng.below(kBags - 1);  // the last stays empty
      const bool first = rng.below(2) == 0;
      (first ? sparse : part).add_sparse_row(bag, index, values, 0.5);
      (first ? dense : dense_part).add_sparse_row(bag, index, values, 0.5);
    }
    const std::vector<std::uint32_t> to = {1, 0, 2, 3};
    for (BagSums* sums : {&sparse, &dense}) sums->merge(sums == &sparse ? part : dense_part, to);
    BagSums mixed = dense_part;  // sparse into dense
    mixed.merge(part);
    std::vector<std::uint32_t> places(kFeatures);
    for (std::size_t j = 0; j < kFeatures; ++j) places[j] = static_cast<std::uint32_t>(2 * (kFeatures - j));
    const std::vector<std::uint32_t> order = {2, 0, 0};
    const BagSums moved = sparse.replaced(places, 200), dense_moved = dense.replaced(places, 200);
    const BagSums turned = sparse.reordered(order), dense_turned = dense.reordered(order);
    CHECK(moved.layout() == BagSums::Layout::kSparse);
    CHECK(turned.layout() == BagSums::Layout::kSparse);
    const DenseRows means = sparse.means(), truth = dense.means();
    const Features rows = sparse.mean_rows();
    REQUIRE(rows.sparse());
    const auto csr = std::get<CsrView>(rows.view());
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * 1e-6 * (1e8 + std::abs(b)); };
    for (std::size_t k = 0; k < kBags; ++k) {
      CHECK(sparse.count(k) == dense.count(k));
      CHECK(sparse.bound_sum(k) == dense.bound_sum(k));
      for (std::size_t j = 0; j < kFeatures; ++j) {
        CHECK(near(sparse.sum(k, j), dense.sum(k, j)));
        CHECK(near(means(k, j), truth(k, j)));
        CHECK(near(mixed.sum(k, j), 2 * dense_part.sum(k, j)));
        CHECK(near(moved.sum(k, places[j]), dense_moved.sum(k, places[j])));
        if (k < order.size()) CHECK(near(turned.sum(k, j), dense_turned.sum(k, j)));
      }
      CHECK(moved.sum(k, 1) == 0);
      for (auto at = csr.start[k]; at < csr.start[k + 1]; ++at) {
        const auto i = static_cast<std::size_t>(at);
        CHECK(csr.values[i] == means(k, static_cast<std::size_t>(csr.index[i])));
        if (at > csr.start[k]) CHECK(csr.index[i - 1] < csr.index[i]);
      }
    }
    CHECK(sparse.pack().size() == dense.pack().size());
  }
}

TEST_CASE("bag_sums: sparse sums keep what cancels, in parts too", "[bags][bag_sums]") {
  using namespace bagwise;
  const std::vector<std::int32_t> index = {7};
  BagSums all(1, 2000, BagSums::Layout::kSparse);
  for (int part = 0; part < 200; ++part) {
    BagSums one(1, 2000, BagSums::Layout::kSparse);
    for (const double x : {1e16, 1.0}) one.add_sparse_row(0, index, std::vector{x}, 0);
    one = one.reordered(std::vector<std::uint32_t>{0});  // now one entry of a high and a low part
    all.merge(one);
  }
  for (int part = 0; part < 200; ++part) all.add_sparse_row(0, index, std::vector{-1e16}, 0);
  CHECK(all.sum(0, 7) == 200);
  CHECK(all.means()(0, 7) == 200.0 / 600);
}

TEST_CASE("bag_sums: rows added together give the bits of rows added one by one", "[bags][bag_sums]") {
  Rng rng(71);
  for (std::size_t features = 1; features <= 70; ++features) {
    for (const std::size_t bags : {std::size_t{1}, std::size_t{3}, std::size_t{40}, std::size_t{500}}) {
      const std::size_t count = static_cast<std::size_t>(rng.below(120));
      const auto rows = random_rows(count, bags, features, rng);
      const bool own_bounds = rng.below(2) == 0;
      std::vector<std::uint32_t> to;
      std::vector<double> values, bounds;
      BagSums expected(bags, features), found(bags, features);
      FeatureMoments expected_moments(features), found_moments(features);
      for (const Row& row : rows) {
        to.push_back(static_cast<std::uint32_t>(row.bag));
        values.insert(values.end(), row.values.begin(), row.values.end());
        bounds.push_back(row.bound);
      }
      if (!own_bounds) bounds.clear();
      const bagwise::DenseView view{values.data(), count, features};
      for (int again = 0; again < 2; ++again) {  // the second time to sums that are not 0
        for (const Row& row : rows) {
          expected.add_row(row.bag, row.values, own_bounds ? row.bound : 0.25);
          expected_moments.add_row(row.values);
        }
        found.add_rows(to, view, bounds, 0.25);
        found_moments.add_rows(view);
      }
      CAPTURE(features, bags, count);
      REQUIRE(found.pack() == expected.pack());
      REQUIRE(found_moments.rows == expected_moments.rows);
      REQUIRE(found_moments.largest == expected_moments.largest);
      for (std::size_t j = 0; j < features; ++j) {
        REQUIRE(found_moments.sum[j].high == expected_moments.sum[j].high);
        REQUIRE(found_moments.sum[j].low == expected_moments.sum[j].low);
        REQUIRE(found_moments.sum_of_squares[j].high == expected_moments.sum_of_squares[j].high);
        REQUIRE(found_moments.sum_of_squares[j].low == expected_moments.sum_of_squares[j].low);
      }
    }
  }
}
