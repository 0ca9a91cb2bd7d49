// Sparse bag means: the methods make of them what they make of the same means as dense rows.
#include "bagwise/methods/mean_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/bags/leak_guard.h"
#include "bagwise/core/random.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/mean_map/mean_map.h"
#include "bagwise/methods/scaling.h"
#include "bagwise/methods/tl_llp/tl_llp.h"

namespace bagwise {
namespace {

using Layout = BagSums::Layout;

// Bags of three rows with ten values each, out of many features; the first feature decides the proportion.
ReducedBags sparse_bags(std::size_t bags, std::size_t features, Layout layout, std::uint64_t seed) {
  Rng rng(seed);
  ReducedBags out;
  out.sums = BagSums(bags, features, layout);
  out.moments = FeatureMoments(features);
  for (std::size_t j = 0; j < features; ++j) out.feature_names.push_back(fmt::format("x{}", j + 1));
  for (std::size_t k = 0; k < bags; ++k) {
    const double share = static_cast<double>(rng.below(4)) / 3;
    out.bags.names.push_back(fmt::format("b{:04}", k));
    out.bags.proportions.push_back(share);
    for (int row = 0; row < 3; ++row) {
      std::vector<std::int32_t> index = {0};
      while (index.size() < 10) index.push_back(1 + static_cast<std::int32_t>(rng.below(features - 1)));
      std::sort(index.begin(), index.end());
      index.erase(std::unique(index.begin(), index.end()), index.end());
      std::vector<double> values = {share - 0.5 + 0.2 * rng.normal()};
      while (values.size() < index.size()) values.push_back(rng.normal());
      out.sums.add_sparse_row(k, index, values, 0.1);
      out.moments.add_sparse_row(index, values);
    }
  }
  return out;
}

void check_same_plane(const Fit& a, const Fit& b, std::size_t task) {
  const auto &x = a.model.tasks[task].weights, &y = b.model.tasks[task].weights;
  REQUIRE(x.size() == y.size());
  double apart = 0, size = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    apart += (x[j] - y[j]) * (x[j] - y[j]);
    size += x[j] * x[j];
  }
  CHECK(size > 0);
  CHECK(std::sqrt(apart) <= 1e-3 * std::sqrt(size));
  CHECK(a.model.training.objective == Approx(b.model.training.objective).epsilon(1e-6));
}

}  // namespace

TEST_CASE("mean_rows: sparse means are the dense ones, whatever the scaling", "[methods][mean_rows]") {
  const ReducedBags dense[] = {sparse_bags(20, 1500, Layout::kDense, 1),
                               sparse_bags(30, 1500, Layout::kDense, 2)};
  const ReducedBags sparse[] = {sparse_bags(20, 1500, Layout::kSparse, 1),
                                sparse_bags(30, 1500, Layout::kSparse, 2)};
  const ReducedBags* const expected_of[] = {&dense[0], &dense[1]};
  const ReducedBags* const found_of[] = {&sparse[0], &sparse[1]};
  const ReducedBags* const mixed[] = {&dense[0], &sparse[1]};
  for (const Scale scale : {Scale::kNone, Scale::kMaxabs, Scale::kStandard}) {
    const Scaling scaling = *fit_scaling(scale, dense[0].moments, dense[0].feature_names);
    DenseRows all = dense_means(expected_of);
    apply(scaling, all);
    for (const auto& tasks : {std::span(found_of), std::span(mixed)}) {
      const auto found = scaled_means(tasks, scaling);
      REQUIRE(found);
      REQUIRE(found->rows() == 50);
      CHECK(found->sparse() == (scale != Scale::kStandard));
      const Features plain = scaled_rows({}, found->view(), 0, 50);
      DenseRows got(50, 1500);
      if (const auto view = plain.view(); plain.sparse()) {
        const auto& csr = std::get<CsrView>(view);
        for (std::size_t i = 0; i < 50; ++i) {
          for (auto k = csr.start[i]; k < csr.start[i + 1]; ++k)
            got(i, static_cast<std::size_t>(csr.index[static_cast<std::size_t>(k)])) =
                csr.values[static_cast<std::size_t>(k)];
        }
      } else {
        std::copy_n(std::get<DenseView>(view).values, 50 * 1500, got.row(0).data());
      }
      double apart = 0;
      for (std::size_t i = 0; i < 50; ++i) {
        for (std::size_t j = 0; j < 1500; ++j) apart = std::max(apart, std::abs(got(i, j) - all(i, j)));
      }
      CHECK(apart <= 1e-14);
    }
  }
}

TEST_CASE("mean_rows: a shift that would fill too much memory is an error", "[methods][mean_rows]") {
  ReducedBags wide;
  wide.sums = BagSums(20000, 20000, Layout::kSparse);
  const ReducedBags* const tasks[] = {&wide};
  const std::vector<double> ones(20000, 1.0);
  const auto shifted = scaled_means(tasks, {.kind = "standard", .shift = ones, .factor = ones});
  REQUIRE_FALSE(shifted);
  CHECK_THAT(shifted.error().message, Catch::Matchers::StartsWith("scale: standard") &&
                                          Catch::Matchers::Contains("3.2 GB") &&
                                          Catch::Matchers::Contains("maxabs"));
  const std::vector<double> zeros(20000, 0.0);
  CHECK(scaled_means(tasks, {.kind = "maxabs", .shift = zeros, .factor = ones}));
}

TEST_CASE("mean_rows: linear methods find the plane of the dense means", "[methods][mean_rows]") {
  const std::size_t features = 3000;
  const auto task = [&](const char* name, Layout layout, std::uint64_t seed) {
    return TrainingTask{name, sparse_bags(60, features, layout, seed)};
  };
  const TrainingTask dense[] = {task("source", Layout::kDense, 3), task("target", Layout::kDense, 4)};
  const TrainingTask sparse[] = {task("source", Layout::kSparse, 3), task("target", Layout::kSparse, 4)};
  for (const Scale scale : {Scale::kNone, Scale::kMaxabs, Scale::kStandard}) {
    InvCalOptions alone;
    alone.scale = scale;
    alone.gap = 1e-9;
    const auto a = fit_inv_cal(dense[1], alone, {}), b = fit_inv_cal(sparse[1], alone, {});
    REQUIRE(a);
    REQUIRE(b);
    check_same_plane(*a, *b, 0);
    for (const Uncertainty uncertainty : {Uncertainty::kOff, Uncertainty::kExact}) {
      TlLlpOptions both;
      both.scale = scale;
      both.gap = 1e-9;
      both.uncertainty = uncertainty;
      const auto c = fit_tl_llp(dense, both, {}), d = fit_tl_llp(sparse, both, {});
      REQUIRE(c);
      REQUIRE(d);
      for (const std::size_t t : {0, 1}) check_same_plane(*c, *d, t);
      CHECK(c->model.training.warnings == d->model.training.warnings);
    }
  }
}

TEST_CASE("mean_rows: sparse means are as far apart as the dense ones", "[methods][mean_rows]") {
  TlLlpOptions options;
  options.delta = 50;  // beyond that, which makes a warning that says how far
  options.scale = Scale::kMaxabs;
  options.max_rounds = 1;
  std::vector<std::string> said[2];
  for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
    const TrainingTask tasks[] = {{"source", sparse_bags(20, 1500, layout, 6)},
                                  {"target", sparse_bags(30, 1500, layout, 7)}};
    const auto fit = fit_tl_llp(tasks, options, {});
    REQUIRE(fit);
    for (const std::string& warning : fit->model.training.warnings) {
      if (warning.find("apart") != std::string::npos) said[layout == Layout::kSparse].push_back(warning);
    }
  }
  REQUIRE(said[0].size() == 2);
  CHECK(said[0] == said[1]);
}

TEST_CASE("mean_rows: class means of sparse sums are those of dense ones", "[methods][mean_rows]") {
  const ReducedBags dense = sparse_bags(50, 1500, Layout::kDense, 5);
  const ReducedBags sparse = sparse_bags(50, 1500, Layout::kSparse, 5);
  const ClassMeans a = class_means(dense.sums, dense.bags.proportions);
  const ClassMeans b = class_means(sparse.sums, sparse.bags.proportions);
  CHECK((a.mean - b.mean).cwiseAbs().maxCoeff() <= 1e-14);
  CHECK((a.difference - b.difference).cwiseAbs().maxCoeff() <= 1e-13);
  CHECK(a.difference.cwiseAbs().maxCoeff() > 0.1);
}

TEST_CASE("mean_rows: a leak is found in sparse sums as in dense ones", "[bags][leak_guard]") {
  for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
    ReducedBags data;
    data.sums = BagSums(3, 1200, layout);
    for (int j = 0; j < 1200; ++j) data.feature_names.push_back(fmt::format("x{}", j));
    data.bags = {{"a", "b", "c"}, {0, 0.5, 1}};
    const std::int32_t index[] = {1, 2, 3, 4, 5, 6};
    // p; 2p - 1; 1 - p; p in two bags only; the same in all; p where it is stored
    const double rows[3][6] = {{0, -1, 1, 0, 1, 0}, {0.5, 0, 0.5, 0.5, 1, 0}, {1, 1, 0, 0.9, 1, 1}};
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<std::int32_t> at;
      std::vector<double> values;
      for (std::size_t j = 0; j < 6; ++j) {
        if (rows[k][j] == 0) continue;
        at.push_back(index[j]);
        values.push_back(rows[k][j]);
      }
      data.sums.add_sparse_row(k, at, values, 0);
    }
    CHECK(leaked_features(data) == std::vector<std::string>{"x1", "x2", "x3"});
  }
}

}  // namespace bagwise
