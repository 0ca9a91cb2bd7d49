#include "bagwise/data/feature_noise.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <tuple>

#include "bagwise/core/random.h"
#include "bagwise/linalg/dense_copy.h"

namespace bagwise {
namespace {

// Sparse rows; feature j is j + 1 in about half of them, else 0, and feature 2 always 0.
Dataset sparse_table(std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  Csr csr;
  csr.columns = 4;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::int32_t j = 0; j < 4; ++j) {
      if (j == 2 || rng.uniform() < 0.5) continue;
      csr.index.push_back(j);
      csr.values.push_back(j + 1);
    }
    csr.start.push_back(static_cast<std::int64_t>(csr.values.size()));
  }
  Dataset out;
  out.features = Features(std::move(csr));
  return out;
}

// Numbers of the rows in which two tables differ.
std::vector<std::size_t> changed_rows(const Dataset& before, const Dataset& after) {
  const DenseRows a = dense_copy(before.features.view()), b = dense_copy(after.features.view());
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    bool same = true;
    for (std::size_t j = 0; j < a.columns(); ++j) same = same && a(i, j) == b(i, j);
    if (!same) out.push_back(i);
  }
  return out;
}

TEST_CASE("feature_noise: the asked share of each table's rows has it", "[data][feature_noise]") {
  for (const double share : {0.0, 0.04, 0.32, 1.0}) {
    const Dataset source = sparse_table(200, 1), target = sparse_table(75, 2);
    Dataset noisy_source = source, noisy_target = target;
    Dataset* const tables[] = {&noisy_target, &noisy_source};
    put_feature_noise(tables, share, 7);
    CAPTURE(share);
    CHECK(changed_rows(source, noisy_source).size() == static_cast<std::size_t>(std::round(share * 200)));
    CHECK(changed_rows(target, noisy_target).size() == static_cast<std::size_t>(std::round(share * 75)));
    CHECK(noisy_target.features.sparse() == (share == 0));
  }
}

TEST_CASE("feature_noise: a larger share adds rows and leaves the others as they are",
          "[data][feature_noise]") {
  const Dataset table = sparse_table(300, 3);
  Dataset some = table, more = table, other = table;
  for (const auto& [copy, share, seed] :
       {std::tuple{&some, 0.1, 5ULL}, std::tuple{&more, 0.3, 5ULL}, std::tuple{&other, 0.1, 6ULL}}) {
    Dataset* const tables[] = {copy};
    put_feature_noise(tables, share, seed);
  }
  const DenseRows a = dense_copy(some.features.view()), b = dense_copy(more.features.view());
  for (const std::size_t i : changed_rows(table, some)) {
    for (std::size_t j = 0; j < a.columns(); ++j) CHECK(a(i, j) == b(i, j));
  }
  CHECK(changed_rows(table, some) != changed_rows(table, other));
}

TEST_CASE("feature_noise: deviations are at most twice those of the feature over all tables",
          "[data][feature_noise]") {
  // Deviations are drawn anew for each seed: their mean over seeds is that of the feature.
  std::vector<double> mean(4, 0.0);
  constexpr int kSeeds = 60;
  std::vector<double> own = {0.5, 1.0, 0.0, 2.0};  // half of the rows are j + 1, the others 0
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Dataset source = sparse_table(1000, 1), target = sparse_table(1000, 2);
    Dataset a = source, b = target;
    Dataset* const tables[] = {&a, &b};
    put_feature_noise(tables, 1, static_cast<std::uint64_t>(seed));
    const DenseRows before = dense_copy(source.features.view()), after = dense_copy(a.features.view());
    for (std::size_t j = 0; j < 4; ++j) {
      double squares = 0;
      for (std::size_t i = 0; i < 1000; ++i)
        squares += (after(i, j) - before(i, j)) * (after(i, j) - before(i, j));
      const double deviation = std::sqrt(squares / 1000);
      CHECK(deviation <= 2 * own[j] * 1.15);
      mean[j] += deviation / kSeeds;
    }
  }
  for (std::size_t j = 0; j < 4; ++j) CHECK(mean[j] == Approx(own[j]).epsilon(0.25));
}

}  // namespace
}  // namespace bagwise
