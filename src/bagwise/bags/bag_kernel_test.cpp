#include "bagwise/bags/bag_kernel.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

Eigen::Index at(std::size_t n) { return static_cast<Eigen::Index>(n); }

// Rows in bags of given sizes, in random order, dense and sparse.
struct Sample {
  DenseRows dense;
  Csr sparse;
  std::vector<std::uint32_t> bag_of_row;
  std::size_t bags = 0;

  Sample(const std::vector<std::size_t>& sizes, std::size_t columns, double filled, Rng& rng)
      : dense(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), columns), bags(sizes.size()) {
    for (std::size_t k = 0; k < bags; ++k)
      bag_of_row.insert(bag_of_row.end(), sizes[k], static_cast<std::uint32_t>(k));
    shuffle(std::span(bag_of_row), rng);
    sparse.columns = columns;
    for (std::size_t i = 0; i < dense.rows(); ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        if (rng.uniform() >= filled) continue;
        dense(i, j) = rng.normal() + 0.5;
        sparse.index.push_back(static_cast<std::int32_t>(j));
        sparse.values.push_back(dense(i, j));
      }
      sparse.start.push_back(static_cast<std::int64_t>(sparse.values.size()));
    }
  }
  [[nodiscard]] std::vector<RowsInBags> forms() const {
    return {{dense.view(), bag_of_row, bags}, {sparse.view(), bag_of_row, bags}};
  }
};

double slow_kernel(const KernelFunction& kernel, std::span<const double> x, std::span<const double> z) {
  double product = 0, distance = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    product += x[j] * z[j];
    distance += (x[j] - z[j]) * (x[j] - z[j]);
  }
  if (kernel.kind == KernelKind::kRbf) return std::exp(-kernel.gamma * distance);
  return kernel.kind == KernelKind::kLinear ? product : std::pow(kernel.gamma * product + 1, kernel.degree);
}

ColMatrix slow_bag_kernel(const KernelFunction& kernel, const Sample& sample) {
  ColMatrix out = ColMatrix::Zero(at(sample.bags), at(sample.bags));
  Vector size = Vector::Zero(at(sample.bags));
  for (std::size_t i = 0; i < sample.dense.rows(); ++i) {
    size[sample.bag_of_row[i]] += 1;
    for (std::size_t j = 0; j < sample.dense.rows(); ++j) {
      out(sample.bag_of_row[i], sample.bag_of_row[j]) +=
          slow_kernel(kernel, sample.dense.row(i), sample.dense.row(j));
    }
  }
  for (Eigen::Index k = 0; k < out.rows(); ++k) {
    for (Eigen::Index l = 0; l < out.cols(); ++l) out(k, l) /= std::max(1.0, size[k] * size[l]);
  }
  return out;
}

const KernelFunction kKernels[] = {
    {KernelKind::kLinear, 1, 1}, {KernelKind::kRbf, 0.2, 3}, {KernelKind::kPoly, 0.3, 3}};

const std::vector<std::vector<std::size_t>> kSizes = {
    {},
    {0},
    {1},
    {0, 3, 0, 0, 1, 0},
    {1, 1, 1, 1, 1, 1, 1},
    {1000, 1, 2},              // parts of one bag before whole bags
    {3, 1, 500, 0, 2, 63, 7},  // and between
    {64, 64, 65, 1, 128},      // bags that just fill a strip
    std::vector<std::size_t>(200, 3),
};

}  // namespace

TEST_CASE("bag_kernel: it is the average over all pairs of rows", "[bags][bag_kernel]") {
  Rng rng(1);
  for (const auto& sizes : kSizes) {
    for (const double filled : {1.0, 0.2}) {
      const Sample sample(sizes, 3, filled, rng);
      for (const KernelFunction& kernel : kKernels) {
        const ColMatrix expected = slow_bag_kernel(kernel, sample);
        for (const RowsInBags& data : sample.forms()) {
          const ColMatrix out = bag_kernel(kernel, data, 1);
          CAPTURE(sizes.size(), filled, static_cast<int>(kernel.kind), data.rows.index());
          REQUIRE(out.rows() == expected.rows());
          REQUIRE(out.cols() == expected.cols());
          if (out.size() == 0) continue;
          CHECK((out - expected).cwiseAbs().maxCoeff() <= 1e-12 * (1 + expected.cwiseAbs().maxCoeff()));
          CHECK(out == out.transpose());
          for (const unsigned threads : {2U, 3U}) CHECK(bag_kernel(kernel, data, threads) == out);
        }
      }
    }
  }
}

TEST_CASE("bag_kernel: the linear kernel gives the inner products of the means", "[bags][bag_kernel]") {
  Rng rng(2);
  const Sample sample({40, 1, 0, 300, 7, 7, 90}, 12, 1, rng);
  ColMatrix means = ColMatrix::Zero(at(sample.bags), 12);
  Vector size = Vector::Zero(at(sample.bags));
  for (std::size_t i = 0; i < sample.dense.rows(); ++i) {
    size[sample.bag_of_row[i]] += 1;
    for (std::size_t j = 0; j < 12; ++j) means(sample.bag_of_row[i], at(j)) += sample.dense(i, j);
  }
  for (Eigen::Index k = 0; k < means.rows(); ++k) means.row(k) /= std::max(1.0, size[k]);
  for (const RowsInBags& data : sample.forms()) {
    const ColMatrix out = bag_kernel({}, data);
    CHECK((out - means * means.transpose()).cwiseAbs().maxCoeff() <= 1e-12);
  }
}

TEST_CASE("bag_kernel: an observer sees it through, or stops it", "[bags][bag_kernel]") {
  Rng rng(3);
  const Sample sample(std::vector<std::size_t>(300, 5), 2, 1, rng);
  double last = 0;
  int calls = 0;
  const auto watch = [&](const Progress& progress) {
    CHECK(progress.total > 0);
    CHECK(progress.done >= last);
    last = progress.done;
    ++calls;
    return Next::kContinue;
  };
  const ColMatrix whole = bag_kernel(kKernels[1], sample.forms()[0], 1, watch);
  CHECK(calls > 10);
  CHECK(last == Approx(0.5 * 1500.0 * 1500.0));
  const ColMatrix stopped =
      bag_kernel(kKernels[1], sample.forms()[0], 1, [](const Progress&) { return Next::kStop; });
  CHECK(whole.minCoeff() > 0);
  CHECK((stopped.array() == 0).count() > whole.size() / 2);
  CHECK(stopped == stopped.transpose());
}

}  // namespace bagwise
