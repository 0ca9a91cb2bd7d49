#include "bagwise/evaluate/diagnosis_transfer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "bagwise/bags/deal.h"
#include "bagwise/data/generate.h"
#include "support/bag_problems.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

DenseRows normal_rows(Rng& rng, std::size_t rows, std::size_t columns, double shift) {
  DenseRows out(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out(i, j) = rng.normal() + shift;
  }
  return out;
}

double mean_distance(const DenseRows& a, const DenseRows& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t k = 0; k < b.rows(); ++k) {
      double square = 0;
      for (std::size_t j = 0; j < a.columns(); ++j) square += std::pow(a(i, j) - b(k, j), 2);
      sum += std::sqrt(square);
    }
  }
  return sum / static_cast<double>(a.rows() * b.rows());
}

TEST_CASE("diagnosis_transfer: the energy distance is that of all pairs", "[evaluate][diagnosis]") {
  Rng rng(1);
  const DenseRows a = normal_rows(rng, 40, 3, 0), b = normal_rows(rng, 25, 3, 0.7);
  const std::vector<double> units(3, 1.0);
  const double dumb = 1 - (mean_distance(a, a) + mean_distance(b, b)) / (2 * mean_distance(a, b));
  const EnergyTest found = energy_test(a.view(), b.view(), units, rng);
  CHECK(found.distance == Approx(dumb).epsilon(1e-9));
  CHECK(found.rows == 65);
  CHECK(found.p_value < 0.05);
  const Csr sparse = test::sparse_of(a.view());
  Rng first(2), second(2);
  CHECK(energy_test(sparse.view(), b.view(), units, first).p_value ==
        energy_test(a.view(), b.view(), units, second).p_value);
}

TEST_CASE("diagnosis_transfer: equal distributions are rarely told apart", "[evaluate][diagnosis]") {
  Rng rng(3);
  const std::vector<double> units(2, 1.0);
  int told = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const DenseRows a = normal_rows(rng, 30, 2, 0), b = normal_rows(rng, 30, 2, 0);
    told += energy_test(a.view(), b.view(), units, rng).p_value < 0.05 ? 1 : 0;
  }
  CHECK(told <= 6);  // 2 expected
}

TEST_CASE("diagnosis_transfer: the cosine is cleaned of noise", "[evaluate][diagnosis]") {
  Rng rng(4);
  // Both tasks' classes differ along (1, 1, ...): a cosine of 1, which noise alone would bring down.
  const std::vector<double> units(6, 1.0);
  double sum = 0;
  for (int trial = 0; trial < 10; ++trial) {
    const ReducedBags a = reduce(test::random_bags(rng, 60, 6)), b = reduce(test::random_bags(rng, 60, 6));
    const auto found = direction_cosine(a, b, units, 100, rng);
    REQUIRE(found);
    CHECK(found->interval.holds(found->cosine));
    sum += found->cosine / 10;
  }
  CHECK(sum > 0.93);
  // Without spread there is nothing but noise.
  ReducedBags none = reduce(test::random_bags(rng, 10, 6));
  std::fill(none.bags.proportions.begin(), none.bags.proportions.end(), 0.5);
  CHECK_FALSE(direction_cosine(none, none, units, 50, rng));
}

TEST_CASE("diagnosis_transfer: the verdict follows the two correlations", "[evaluate][diagnosis]") {
  const auto signal = [](double r, double error) { return ClassSignal{r, error, {-1, 1}}; };
  CHECK(transfer_verdict(signal(0.7, 0.05), signal(0.6, 0.1)) == TransferVerdict::kHelps);
  CHECK(transfer_verdict(signal(0.7, 0.05), signal(0.0, 0.1)) == TransferVerdict::kHurts);
  CHECK(transfer_verdict(signal(0.7, 0.05), signal(-0.6, 0.1)) == TransferVerdict::kHurts);
  CHECK(transfer_verdict(signal(0.7, 0.05), signal(0.4, 0.3)) == TransferVerdict::kUnclear);
  CHECK(transfer_verdict(signal(0.05, 0.1), signal(0.6, 0.1)) == TransferVerdict::kUnclear);
}

struct Task {
  BaggedData data;
  ReducedBags sums;
};
Task dealt(Dataset rows, Rng& rng) {
  auto bags = deal_bags(std::move(rows), 8, rng);
  auto data = attach_proportions(std::move(bags->instances), "made", &bags->proportions);
  Task out;
  out.data = std::move(*data);
  out.sums = reduce(out.data);
  return out;
}

TEST_CASE("diagnosis_transfer: related sources help and unrelated ones hurt, on made data",
          "[evaluate][diagnosis]") {
  for (const auto preset : {GeneratorPreset::kRelated, GeneratorPreset::kUnrelated}) {
    GeneratorOptions options = generator_preset(GeneratorKind::kGaussian, preset, 3);
    options.features = 20;
    options.test_rows = 1;
    auto made = generate(options);
    REQUIRE(made);
    Rng rng(6);
    const Task source = dealt(std::move(made->source), rng), target = dealt(std::move(made->target), rng);
    const auto found = [&](unsigned threads) {
      return diagnose_transfer("source", source.data, source.sums, target.data, target.sums,
                               {.seed = 1, .threads = threads});
    };
    const TransferDiagnosis one = found(1), three = found(3);
    CHECK(one.verdict ==
          (preset == GeneratorPreset::kRelated ? TransferVerdict::kHelps : TransferVerdict::kHurts));
    CHECK(one.across.correlation == three.across.correlation);
    CHECK(one.own.correlation == three.own.correlation);
    CHECK(one.energy.p_value == three.energy.p_value);
    CHECK(one.shared_rows == 0);
    REQUIRE(one.shifts.size() == 5);
    CHECK(std::abs(one.shifts[0].shift) >= std::abs(one.shifts[4].shift));
  }
}

}  // namespace
}  // namespace bagwise
