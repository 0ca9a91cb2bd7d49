#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/random.h"

namespace {

using bagwise::BaggedData;
using bagwise::Csr;
using bagwise::DenseRows;
using bagwise::Features;
using bagwise::ReducedBags;
using bagwise::Rng;

// Rows in random bags, bag 0 taking about half of them so that it runs over several pieces.
BaggedData make_bagged(std::size_t rows, std::size_t bags, std::size_t columns, bool sparse, Rng& rng) {
  BaggedData data;
  DenseRows dense(rows, columns);
  Csr csr;
  csr.columns = columns;
  for (std::size_t i = 0; i < rows; ++i) {
    data.bag_of_row.push_back(static_cast<std::uint32_t>(rng.below(2) == 0 ? 0 : rng.below(bags)));
    data.bounds.push_back(rng.uniform());
    for (std::size_t j = 0; j < columns; ++j) {
      dense(i, j) = rng.normal();
      csr.index.push_back(static_cast<std::int32_t>(j));
      csr.values.push_back(dense(i, j));
    }
    csr.start.push_back(static_cast<std::int64_t>(csr.values.size()));
  }
  data.features = sparse ? Features(csr) : Features(dense);
  for (std::size_t j = 0; j < columns; ++j) data.feature_names.push_back(fmt::format("f{}", j));
  for (std::size_t k = 0; k < bags; ++k) {
    data.bags.names.push_back(fmt::format("b{}", k));
    data.bags.proportions.push_back(rng.uniform());
  }
  return data;
}

}  // namespace

TEST_CASE("reduce: sums are those of adding row by row", "[bags][reduce]") {
  Rng rng(1);
  for (const std::size_t rows : {0U, 1U, 100U, 4096U, 4097U, 20000U}) {
    for (const std::size_t bags : {1U, 3U, 5000U}) {
      const BaggedData data = make_bagged(rows, bags, 2, rows % 2 == 1, rng);
      const ReducedBags got = bagwise::reduce(data);
      CAPTURE(rows, bags);
      CHECK(got.feature_names == data.feature_names);
      CHECK(got.bags.names == data.bags.names);
      CHECK(got.bags.proportions == data.bags.proportions);
      CHECK(got.moments.rows == rows);
      REQUIRE(got.sums.bags() == bags);
      std::vector<std::uint64_t> count(bags, 0);
      std::vector<long double> sum(2 * bags, 0), bound(bags, 0), total(2, 0);
      const auto view = data.features.view();
      for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t k = data.bag_of_row[i];
        ++count[k];
        bound[k] += static_cast<long double>(data.bounds[i]);
        for (std::size_t j = 0; j < 2; ++j) {
          const double x = data.features.sparse() ? std::get<bagwise::CsrView>(view).values[2 * i + j]
                                                  : std::get<bagwise::DenseView>(view).row(i)[j];
          sum[2 * k + j] += static_cast<long double>(x);
          total[j] += static_cast<long double>(x);
        }
      }
      bool right = true;
      for (std::size_t k = 0; k < bags; ++k) {
        right = right && got.sums.count(k) == count[k];
        right = right && std::abs(got.sums.bound_sum(k) - static_cast<double>(bound[k])) <= 1e-13;
        for (std::size_t j = 0; j < 2; ++j) {
          right = right && std::abs(got.sums.sum(k, j) - static_cast<double>(sum[2 * k + j])) <= 1e-13;
        }
      }
      CHECK(right);
      for (std::size_t j = 0; j < 2; ++j) {
        CHECK(std::abs(got.moments.sum[j].value() - static_cast<double>(total[j])) <= 1e-13);
      }
    }
  }
}

TEST_CASE("reduce: 1, 2 and 4 threads give the same bits", "[bags][reduce]") {
  Rng rng(2);
  for (const bool sparse : {false, true}) {
    const BaggedData data = make_bagged(30000, 700, 3, sparse, rng);
    const ReducedBags one = bagwise::reduce(data, 1);
    for (const unsigned threads : {2U, 4U}) {
      const ReducedBags many = bagwise::reduce(data, threads);
      bool same = true;
      for (std::size_t k = 0; k < 700; ++k) {
        same = same && one.sums.bound_sum(k) == many.sums.bound_sum(k);
        for (std::size_t j = 0; j < 3; ++j) same = same && one.sums.sum(k, j) == many.sums.sum(k, j);
      }
      for (std::size_t j = 0; j < 3; ++j) {
        same = same && one.moments.sum[j].value() == many.moments.sum[j].value();
        same = same && one.moments.sum_of_squares[j].value() == many.moments.sum_of_squares[j].value();
      }
      CHECK(same);
    }
  }
}

TEST_CASE("reduce: without bounds every bound is 0", "[bags][reduce]") {
  Rng rng(3);
  BaggedData data = make_bagged(50, 3, 1, false, rng);
  data.bounds.clear();
  CHECK(bagwise::reduce(data).sums.bound_sum(0) == 0);
}
