#include "bagwise/evaluate/diagnosis_task.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "bagwise/evaluate/diagnosis_findings.h"
#include "support/bag_problems.h"

namespace bagwise {
namespace {

TaskDiagnosis diagnose(const BaggedData& data) { return diagnose_task("target", data, reduce(data)); }

bool says(const std::vector<Finding>& all, Severity severity, const std::string& part) {
  return std::any_of(all.begin(), all.end(), [&](const Finding& f) {
    return f.severity == severity && f.message.find(part) != std::string::npos;
  });
}
std::vector<Finding> findings_of(const TaskDiagnosis& task) { return findings({&task, 1}, {}); }

// Rows with one more column.
BaggedData with_column(const BaggedData& data, const std::string& name, const std::vector<double>& values) {
  BaggedData out = data;
  const RowsView view = data.features.view();
  const DenseView& old = std::get<DenseView>(view);
  DenseRows rows(old.rows, old.columns + 1);
  for (std::size_t i = 0; i < old.rows; ++i) {
    for (std::size_t j = 0; j < old.columns; ++j) rows(i, j) = old.row(i)[j];
    rows(i, old.columns) = values[i];
  }
  out.features = Features(std::move(rows));
  out.feature_names.push_back(name);
  return out;
}

TEST_CASE("diagnosis_task: the effective size is what its formula says", "[evaluate][diagnosis]") {
  Rng rng(1);
  for (int trial = 0; trial < 10; ++trial) {
    const BaggedData data = test::random_bags(rng, 20, 2);
    const ReducedBags reduced = reduce(data);
    double n = 0, positives = 0, sum = 0, inverse = 0;
    for (std::size_t k = 0; k < 20; ++k) {
      const auto size = static_cast<double>(reduced.sums.count(k));
      n += size;
      positives += size * data.bags.proportions[k];
      inverse += 1 / size;
    }
    const double pi = positives / n;
    for (std::size_t k = 0; k < 20; ++k)
      sum += static_cast<double>(reduced.sums.count(k)) * std::pow(data.bags.proportions[k] - pi, 2);
    const TaskDiagnosis found = diagnose(data);
    CHECK(found.share == Approx(pi));
    CHECK(found.effective_size == Approx(sum / (pi * (1 - pi))));
    CHECK(found.chance_deviation == Approx(std::sqrt(pi * (1 - pi) * inverse / 20)));
    CHECK(found.chance_tail == Approx(chi_square_tail(sum / (pi * (1 - pi)), 19)));
    // The condition number of the least-squares matrix with rows sqrt(size/n) (p, 1 - p).
    double a = 0, b = 0, c = 0;
    for (std::size_t k = 0; k < 20; ++k) {
      const double w = static_cast<double>(reduced.sums.count(k)) / n, p = data.bags.proportions[k];
      a += w * p * p;
      b += w * p * (1 - p);
      c += w * (1 - p) * (1 - p);
    }
    const double root = std::sqrt((a - c) * (a - c) + 4 * b * b);
    CHECK(found.condition == Approx(std::sqrt((a + c + root) / (a + c - root))).epsilon(1e-6));
  }
}

TEST_CASE("diagnosis_task: pure bags are worth all their rows, dealt rows one a bag",
          "[evaluate][diagnosis]") {
  Rng rng(2);
  BaggedData pure = test::random_bags(rng, 40, 2);
  for (std::size_t k = 0; k < 40; ++k) pure.bags.proportions[k] = k % 2 == 0 ? 1 : 0;
  const TaskDiagnosis labels = diagnose(pure);
  CHECK(labels.effective_size == Approx(static_cast<double>(labels.instances)));
  CHECK(labels.pure_bags == 40);
  CHECK(says(findings_of(labels), Severity::kRemark, "these are labels"));

  BaggedData dealt;
  DenseRows rows(4000, 1);
  std::vector<double> positives(500, 0.0);
  for (std::size_t i = 0; i < 4000; ++i) {
    const bool positive = rng.uniform() < 0.3;
    rows(i, 0) = rng.normal() + (positive ? 1 : 0);
    dealt.bag_of_row.push_back(static_cast<std::uint32_t>(i % 500));
    positives[i % 500] += positive ? 1 : 0;
  }
  for (std::size_t k = 0; k < 500; ++k) {
    dealt.bags.names.push_back(fmt::format("{:03}", k));
    dealt.bags.proportions.push_back(positives[k] / 8);
  }
  dealt.feature_names = {"x"};
  dealt.features = Features(std::move(rows));
  const TaskDiagnosis found = diagnose(dealt);
  CHECK(found.effective_size == Approx(499).epsilon(0.2));
  CHECK(found.chance_tail > 0.001);
  CHECK(found.proportions.deviation == Approx(found.chance_deviation).epsilon(0.1));
  CHECK(found.sizes.least == 8);
  CHECK(found.sizes.largest == 8);
  CHECK(learnable(found) == Learnable::kYes);
}

TEST_CASE("diagnosis_task: leaks and near leaks are found by name", "[evaluate][diagnosis]") {
  Rng rng(3);
  const auto labelled = test::random_labelled_bags(rng, 12, 2);
  BaggedData data = labelled.data;
  std::vector<double> positives(12, 0.0), sizes(12, 0.0), label;
  for (std::size_t i = 0; i < data.bag_of_row.size(); ++i) {
    label.push_back(labelled.labels[i] > 0 ? 1 : 0);
    positives[data.bag_of_row[i]] += label.back();
    sizes[data.bag_of_row[i]] += 1;
  }
  for (std::size_t k = 0; k < 12; ++k) data.bags.proportions[k] = positives[k] / sizes[k];
  std::vector<double> near;
  for (const double one : label) near.push_back(-5 * one + 2 + 0.001 * rng.normal());
  const TaskDiagnosis found = diagnose(with_column(with_column(data, "leak", label), "near", near));
  CHECK(found.leaks == std::vector<std::string>{"leak"});
  REQUIRE(found.near_leaks.size() == 1);
  CHECK(found.near_leaks[0].first == "near");
  CHECK(found.near_leaks[0].second < -0.999);
  CHECK(says(findings_of(found), Severity::kFault, "\"leak\""));
  CHECK(says(findings_of(found), Severity::kWarning, "\"near\""));
  CHECK(diagnose(data).leaks.empty());
  CHECK(diagnose(data).near_leaks.empty());
}

TEST_CASE("diagnosis_task: the order of the rows changes nothing", "[evaluate][diagnosis]") {
  Rng rng(4);
  const BaggedData data = test::random_bags(rng, 25, 3);
  std::vector<std::size_t> order(data.bag_of_row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), rng);
  BaggedData other = data;
  other.features = take_rows(data.features.view(), order);
  for (std::size_t i = 0; i < order.size(); ++i) other.bag_of_row[i] = data.bag_of_row[order[i]];
  const TaskDiagnosis a = diagnose(data), b = diagnose(other);
  CHECK(a.effective_size == b.effective_size);
  CHECK(a.condition == b.condition);
  CHECK(a.duplicates.copies == b.duplicates.copies);
  CHECK(a.signal.correlation == Approx(b.signal.correlation).epsilon(1e-9));
  CHECK(a.scales.median == Approx(b.scales.median).epsilon(1e-12));
}

TEST_CASE("diagnosis_task: what is wrong is said", "[evaluate][diagnosis]") {
  Rng rng(5);
  BaggedData data = test::random_bags(rng, 20, 3);
  std::vector<double> constant(data.bag_of_row.size(), 4.0), huge;
  for (std::size_t i = 0; i < constant.size(); ++i) huge.push_back(1e4 * rng.normal());
  const auto all = findings_of(diagnose(with_column(with_column(data, "same", constant), "huge", huge)));
  CHECK(all[0].severity == Severity::kVerdict);
  CHECK(says(all, Severity::kRemark, "\"same\""));
  CHECK(says(all, Severity::kWarning, "--scale standard"));

  std::fill(data.bags.proportions.begin(), data.bags.proportions.end(), 0.5);
  const TaskDiagnosis alike = diagnose(data);
  CHECK(learnable(alike) == Learnable::kNo);
  CHECK(std::isinf(alike.condition));
  CHECK(says(findings_of(alike), Severity::kVerdict, "the same proportion"));

  std::fill(data.bags.proportions.begin(), data.bags.proportions.end(), 0.0);
  CHECK(says(findings_of(diagnose(data)), Severity::kFault, "one class only"));
  data.bags.proportions[0] = 0.01;
  CHECK(says(findings_of(diagnose(data)), Severity::kWarning, "nearly absent"));
}

}  // namespace
}  // namespace bagwise
