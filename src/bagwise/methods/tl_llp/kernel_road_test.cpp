#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/scorer.h"
#include "bagwise/methods/tl_llp/tl_llp.h"
#include "support/transfer_problems.h"

namespace bagwise {
namespace {

using test::random_world;
using test::World;

double plain_kernel(const KernelFunction& k, std::span<const double> x, std::span<const double> z) {
  double product = 0, distance = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    product += x[j] * z[j];
    distance += (x[j] - z[j]) * (x[j] - z[j]);
  }
  if (k.kind == KernelKind::kRbf) return std::exp(-k.gamma * distance);
  return std::pow(k.gamma * product + 1, k.degree);
}

// sum_ij a_i b_j k(z_i, z_j) over the rows of an expansion.
double plain_product(const Expansion& e, const std::vector<double>& a, const std::vector<double>& b) {
  const auto z = std::get<DenseView>(e.rows.view());
  double sum = 0;
  for (std::size_t i = 0; i < z.rows; ++i) {
    for (std::size_t j = 0; j < z.rows; ++j) sum += a[i] * b[j] * plain_kernel(e.kernel, z.row(i), z.row(j));
  }
  return sum;
}

std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

// The largest difference of scores on the rows of all tasks.
double largest_difference(const World& world, const Model& a, const Model& b) {
  double largest = 0;
  for (std::size_t t = 0; t < world.data.size(); ++t) {
    const auto f = Scorer(a, t).scores(world.data[t].features.view());
    const auto g = Scorer(b, t).scores(world.data[t].features.view());
    for (std::size_t i = 0; i < f.size(); ++i) largest = std::max(largest, std::abs(f[i] - g[i]));
  }
  return largest;
}

TEST_CASE("kernel_road: the objective is that of the expansion, by plain loops",
          "[methods][tl_llp][kernel]") {
  Rng rng(21);
  for (int round = 0; round < 8; ++round) {
    CAPTURE(round);
    const World world = random_world(rng, 1 + static_cast<std::size_t>(round) % 3, 2, 8, false, 4);
    TlLlpOptions o;
    o.kernel = round % 2 == 0 ? KernelKind::kRbf : KernelKind::kPoly;
    o.degree = 2;
    o.scale = round % 4 < 2 ? Scale::kNone : Scale::kStandard;
    o.uncertainty = Uncertainty::kOff;
    o.C = 4;
    const auto fit = fit_tl_llp(world.tasks, o, {});
    REQUIRE(fit.ok());
    const Model& model = fit->model;
    REQUIRE(model.expansion);
    double sum = plain_product(*model.expansion, model.shared_weights, model.shared_weights) / 2;
    for (std::size_t t = 0; t < world.data.size(); ++t) {
      const bool target = t + 1 == world.data.size();
      const auto own = difference(model.tasks[t].weights, model.shared_weights);
      const double square = plain_product(*model.expansion, own, own);
      sum += (target ? o.lambda : o.lambda_source[0]) / 2 * square;
      CHECK(model.training.tasks[t].own_norm == Approx(std::sqrt(square)).margin(1e-9));
      const auto f = Scorer(model, t).scores(world.data[t].features.view());
      const std::size_t bags = world.data[t].bags.size();
      std::vector<double> mean(bags, 0), size(bags, 0);
      for (std::size_t i = 0; i < f.size(); ++i) {
        mean[world.data[t].bag_of_row[i]] += f[i];
        size[world.data[t].bag_of_row[i]] += 1;
      }
      for (std::size_t k = 0; k < bags; ++k) {
        const double p =
            clipped_proportion(world.data[t].bags.proportions[k], static_cast<std::uint64_t>(size[k]), {});
        const double r = mean[k] / size[k] - std::log(p / (1 - p));
        CHECK(model.training.tasks[t].residual[k] == Approx(r).margin(1e-9));
        sum += (target ? o.C : o.C_source[0]) * std::max(0.0, std::abs(r) - o.epsilon);
      }
    }
    CHECK(model.training.objective == Approx(sum).epsilon(1e-9));
    CHECK(*model.training.relative_gap <= 1e-6);
    CHECK(*model.training.shared_norm ==
          Approx(std::sqrt(plain_product(*model.expansion, model.shared_weights, model.shared_weights))));
  }
}

TEST_CASE("kernel_road: a polynomial of degree 1 is the linear method", "[methods][tl_llp][kernel]") {
  // x.z + 1 adds a constant to the kernel, and multipliers sum to 0 in every task.
  Rng rng(22);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    const World world = random_world(rng, 1 + static_cast<std::size_t>(round) % 3, 3, 12, false, 20);
    TlLlpOptions o;
    o.gap = 1e-10;
    o.uncertainty = round % 2 == 0 ? Uncertainty::kOff : Uncertainty::kLiteral;
    o.scale = round < 3 ? Scale::kNone : Scale::kStandard;
    o.max_rounds = 2;
    const auto linear = fit_tl_llp(world.tasks, o, {});
    o.kernel = KernelKind::kPoly;
    o.degree = 1;
    o.gamma = 1;
    const auto kernel = fit_tl_llp(world.tasks, o, {});
    REQUIRE(linear.ok());
    REQUIRE(kernel.ok());
    const auto& a = linear->model.training.objective_history;
    const auto& b = kernel->model.training.objective_history;
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(b[i] == Approx(a[i]).epsilon(1e-6));
    CHECK(largest_difference(world, linear->model, kernel->model) < 1e-3);
    CHECK(kernel->model.training.tasks.back().shared_part ==
          Approx(linear->model.training.tasks.back().shared_part).epsilon(1e-3));
  }
}

TEST_CASE("kernel_road: exact rounds never raise the objective", "[methods][tl_llp][kernel]") {
  Rng rng(23);
  int several = 0;
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const World world = random_world(rng, 1 + static_cast<std::size_t>(round) % 3, 2, 10, round % 2 == 0, 5);
    TlLlpOptions o;
    o.kernel = round % 3 == 0 ? KernelKind::kPoly : KernelKind::kRbf;
    o.scale = round % 5 == 0 ? Scale::kStandard : Scale::kNone;
    if (world.data[0].bounds.empty()) o.delta = 0.1;
    o.C = 8;
    const auto fit = fit_tl_llp(world.tasks, o, {});
    REQUIRE(fit.ok());
    const TrainingReport& report = fit->model.training;
    CHECK(std::is_sorted(report.objective_history.rbegin(), report.objective_history.rend()));
    CHECK(report.objective == report.objective_history.back());
    CHECK(*report.relative_gap <= 1e-6);
    several += report.rounds > 2 ? 1 : 0;
    for (const TaskReport& task : report.tasks) {
      REQUIRE(task.shift.size() == task.residual.size());
      for (std::size_t k = 0; k < task.shift.size(); ++k) CHECK(task.shift[k] * task.residual[k] <= 0);
    }
  }
  CHECK(several > 3);
}

TEST_CASE("kernel_road: landmarks come close to the kernel, the more the closer",
          "[methods][tl_llp][kernel]") {
  Rng rng(24);
  for (const KernelKind kind : {KernelKind::kRbf, KernelKind::kPoly}) {
    const World world = random_world(rng, 2, 3, 30, false, 6);
    TlLlpOptions o;
    o.uncertainty = Uncertainty::kOff;
    o.kernel = kind;
    o.degree = 2;
    o.gap = 1e-9;
    InvCalOptions alone{.kernel = kind, .degree = 2, .gap = 1e-9};
    const auto kernel = fit_tl_llp(world.tasks, o, {});
    const auto kernel_alone = fit_inv_cal(world.tasks.back(), alone, {});
    const World target{{world.data.back()}, {}};
    std::size_t rows = 0;
    for (const BaggedData& data : world.data) rows += data.bag_of_row.size();
    double before = 0;
    for (const std::size_t landmarks : {std::size_t{4}, rows / 4, rows}) {
      CAPTURE(landmarks, rows);
      o.nystrom = alone.nystrom = static_cast<int>(landmarks);
      const auto fit = fit_tl_llp(world.tasks, o, {});
      const auto fit_alone = fit_inv_cal(world.tasks.back(), alone, {});
      REQUIRE(fit.ok());
      REQUIRE(fit_alone.ok());
      const double error = largest_difference(world, fit->model, kernel->model);
      // Fewer dimensions fit worse: the objective can only be higher.
      CHECK(fit->model.training.objective >= kernel->model.training.objective * (1 - 1e-8));
      if (landmarks == rows) {
        CHECK(error < 1e-3);
        CHECK(fit->model.training.objective == Approx(kernel->model.training.objective).epsilon(1e-6));
        CHECK(largest_difference(target, fit_alone->model, kernel_alone->model) < 1e-3);
      } else {
        CHECK((before == 0 || error < before));
      }
      before = error;
    }
  }
}

TEST_CASE("kernel_road: the automatic gamma is 1 over the sum of the features' variances, as scaled",
          "[methods][tl_llp][kernel]") {
  Rng rng(27);
  const World world = random_world(rng, 2, 4, 20);
  std::vector<double> values[4];
  double variance = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    for (const BaggedData& data : world.data) {
      const auto rows = std::get<DenseView>(data.features.view());
      for (std::size_t i = 0; i < rows.rows; ++i) values[j].push_back(rows.row(i)[j]);
    }
    double mean = 0;
    for (const double x : values[j]) mean += x / static_cast<double>(values[j].size());
    for (const double x : values[j])
      variance += (x - mean) * (x - mean) / static_cast<double>(values[j].size());
  }
  TlLlpOptions o;
  o.kernel = KernelKind::kRbf;
  CHECK(fit_tl_llp(world.tasks, o, {})->model.expansion->kernel.gamma == Approx(1 / variance));
  o.scale = Scale::kStandard;
  CHECK(fit_tl_llp(world.tasks, o, {})->model.expansion->kernel.gamma == Approx(0.25));
  o.nystrom = 10;
  const auto fit = fit_tl_llp(world.tasks, o, {});
  CHECK(fit->model.expansion->kernel.gamma == Approx(0.25));
  const auto& shared = fit->model.shared_weights;
  REQUIRE(shared.size() == 10);
  CHECK(*fit->model.training.shared_norm ==
        Approx(std::sqrt(plain_product(*fit->model.expansion, shared, shared))));
}

TEST_CASE("kernel_road: a kernel learns what no plane can tell", "[methods][tl_llp][kernel]") {
  // Positives near the origin, negatives in a ring around it.
  Rng rng(25);
  BaggedData data;
  DenseRows rows(2);
  std::vector<bool> positive;
  data.feature_names = {"x", "y"};
  for (std::uint32_t k = 0; k < 60; ++k) {
    const std::uint64_t positives = rng.below(6);
    for (std::uint64_t i = 0; i < 5; ++i) {
      const double angle = 7 * rng.uniform(), radius = (i < positives ? 0 : 3) + 0.5 * rng.uniform();
      double* row = rows.append(1);
      row[0] = radius * std::cos(angle), row[1] = radius * std::sin(angle);
      positive.push_back(i < positives);
      data.bag_of_row.push_back(k);
    }
    data.bags.names.push_back(fmt::format("{:02}", k));
    data.bags.proportions.push_back(static_cast<double>(positives) / 5);
  }
  data.features = Features(std::move(rows));
  const TrainingTask task{"target", reduce(data), &data};
  const auto accuracy = [&](const InvCalOptions& o) {
    const auto fit = fit_inv_cal(task, o, {});
    REQUIRE(fit.ok());
    const auto f = Scorer(fit->model, 0).scores(data.features.view());
    int right = 0;
    for (std::size_t i = 0; i < f.size(); ++i) right += (f[i] > 0) == positive[i] ? 1 : 0;
    return static_cast<double>(right) / static_cast<double>(f.size());
  };
  CHECK(accuracy({}) < 0.7);
  CHECK(accuracy({.kernel = KernelKind::kRbf}) > 0.95);
  CHECK(accuracy({.kernel = KernelKind::kPoly, .degree = 2}) > 0.95);
  CHECK(accuracy({.kernel = KernelKind::kRbf, .nystrom = 40}) > 0.95);
}

TEST_CASE("kernel_road: options that do not go together are named", "[methods][tl_llp][kernel][badargs]") {
  Rng rng(26);
  World world = random_world(rng, 2, 2);
  const auto fault = [&](const TlLlpOptions& o) {
    const auto fit = fit_tl_llp(world.tasks, o, {});
    return fit.ok() ? std::string() : fit.error().text();
  };
  TlLlpOptions o;
  o.gamma = 2;
  CHECK_THAT(fault(o), Catch::Contains("gamma = 2 has no meaning for the kernel linear"));
  o = {};
  o.nystrom = 3;
  CHECK_THAT(fault(o), Catch::Contains("nystrom = 3 has no meaning"));
  o.kernel = KernelKind::kRbf;
  o.uncertainty = Uncertainty::kLiteral;
  CHECK_THAT(fault(o), Catch::Contains("does not go with uncertainty literal"));
  o = {};
  o.kernel = KernelKind::kPoly;
  o.degree = 0;
  CHECK_THAT(fault(o), Catch::Contains("degree = 0 breaks degree from 1 to 20"));
  o.degree = 2;
  world.tasks[0].rows = nullptr;
  CHECK_THAT(fault(o), Catch::Contains("the source is given by sums per bag only"));
}

}  // namespace
}  // namespace bagwise
