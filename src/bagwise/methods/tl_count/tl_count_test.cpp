#include "bagwise/methods/tl_count/tl_count.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <numeric>

#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/scorer.h"
#include "support/count_twin.h"
#include "support/transfer_problems.h"

namespace bagwise {
namespace {

using test::at;
using test::distance;
using test::random_world;
using test::Real;
using test::RealVector;
using test::World;

// The planes of a model one after the other, in the space of the problem: w_0, the v_t, the b_t.
RealVector flat(const Model& model) {
  RealVector out(model.shared_weights.begin(), model.shared_weights.end());
  for (const TaskModel& task : model.tasks) {
    for (std::size_t j = 0; j < task.weights.size(); ++j)
      out.push_back(static_cast<Real>(task.weights[j]) - model.shared_weights[j]);
  }
  for (const TaskModel& task : model.tasks) out.push_back(task.bias);
  return out;
}

// The stated objective by plain loops over the rows of all tasks.
Real stated_objective(const World& world, const TlCountOptions& o, const Scaling& scaling,
                      const RealVector& planes) {
  const std::size_t tasks = world.data.size(), d = world.data[0].feature_names.size();
  Real sum = 0;
  for (std::size_t j = 0; j < d; ++j) sum += planes[j] * planes[j] / 2;
  for (std::size_t t = 0; t < tasks; ++t) {
    const BaggedData& data = world.data[t];
    const auto rows = std::get<DenseView>(data.features.view());
    const bool target = t + 1 == tasks;
    const Real lambda = target ? o.lambda : at(o.lambdas_of_sources(), t),
               C = target ? o.C : at(o.costs_of_sources(), t);
    const Real* own = planes.data() + (1 + t) * d;
    for (std::size_t j = 0; j < d; ++j) sum += lambda * own[j] * own[j] / 2;
    std::vector<RealVector> f(data.bags.size());
    for (std::size_t i = 0; i < rows.rows; ++i) {
      Real value = planes[(1 + tasks) * d + t];
      for (std::size_t j = 0; j < d; ++j) {
        Real x = rows.row(i)[j];
        if (!scaling.factor.empty()) x = (x - scaling.shift[j]) * scaling.factor[j];
        value += (planes[j] + own[j]) * x;
      }
      f[data.bag_of_row[i]].push_back(value);
    }
    for (std::size_t k = 0; k < f.size(); ++k) {
      const auto size = static_cast<double>(f[k].size());
      const double noise = data.bags.noise_of(k), n = data.bags.proportions[k] * size;
      const CountSeen seen{noise > 0 ? n : std::round(n), noise * size};
      sum += C * test::twin_nll(f[k], seen, f[k].size() <= static_cast<std::size_t>(o.exact_up_to));
    }
  }
  return sum;
}
double stated_objective(const World& world, const TlCountOptions& o, const Model& model) {
  return static_cast<double>(stated_objective(world, o, model.scaling, flat(model)));
}

// Shares that the bags can have, so that a count is what it says.
void make_whole(World& world) {
  for (std::size_t t = 0; t < world.data.size(); ++t) {
    for (std::size_t k = 0; k < world.data[t].bags.size(); ++k) {
      const auto size = static_cast<double>(world.tasks[t].reduced.sums.count(k));
      double& share = world.data[t].bags.proportions[k];
      share = std::round(share * size) / size;
    }
    world.tasks[t].reduced = reduce(world.data[t]);
  }
}
void make_noisy(World& world, double noise) {
  for (std::size_t t = 0; t < world.data.size(); ++t) {
    world.data[t].bags.noise.assign(world.data[t].bags.size(), noise);
    world.tasks[t].reduced = reduce(world.data[t]);
  }
}

double norm(const std::vector<double>& w) {
  return std::sqrt(std::inner_product(w.begin(), w.end(), w.begin(), 0.0));
}

TEST_CASE("tl_count: the reported objective is the stated problem's, for every option",
          "[methods][tl_count]") {
  Rng rng(41);
  for (int round = 0; round < 24; ++round) {
    CAPTURE(round);
    const std::size_t tasks = 1 + rng.below(3);
    World world = random_world(rng, tasks, 1 + rng.below(5), 10);
    if (round % 4 == 3) make_noisy(world, 0.1);
    TlCountOptions o;
    o.C = std::exp2(static_cast<double>(rng.below(6)) - 3);
    o.lambda = std::pow(10, static_cast<double>(rng.below(5)) - 2);
    o.exact_up_to = std::array<int, 3>{64, 0, 4}[static_cast<std::size_t>(round % 3)];
    o.scale = round % 2 == 0 ? Scale::kNone : Scale::kStandard;
    if (tasks == 3) o.C_source = {0.2, 1.5}, o.lambda_source = {3, 0.4};
    const auto fit = fit_tl_count(world.tasks, o, {.threads = 1});
    REQUIRE(fit.ok());
    const TrainingReport& report = fit->model.training;
    CHECK(report.objective == Approx(stated_objective(world, o, fit->model)).epsilon(1e-10));
    CHECK(report.termination == "converged");
    CHECK(report.objective == report.objective_history.back());
    CHECK(std::is_sorted(report.objective_history.rbegin(), report.objective_history.rend()));
    CHECK(report.rounds == static_cast<int>(report.objective_history.size()) - 1);
    CHECK_FALSE(report.relative_gap.has_value());
    CHECK(fit->model.method == "tl-count");
  }
}

// The lowest F that plain gradient descent with halving finds from a point.
Real descend(const std::function<Real(const RealVector&)>& f, RealVector z) {
  Real value = f(z), length = 0.1L;
  for (int step = 0; step < 4000; ++step) {
    RealVector slope(z.size());
    Real square = 0;
    for (std::size_t j = 0; j < z.size(); ++j) {
      const Real middle = z[j], h = 1e-6L;
      z[j] = middle + h;
      const Real above = f(z);
      z[j] = middle - h;
      slope[j] = (above - f(z)) / (2 * h);
      z[j] = middle;
      square += slope[j] * slope[j];
    }
    if (square < 1e-14L) break;
    for (length *= 4;; length /= 2) {
      RealVector next = z;
      for (std::size_t j = 0; j < z.size(); ++j) next[j] -= length * slope[j];
      const Real there = f(next);
      if (there > value - length * square / 4) continue;
      z = next;
      value = there;
      break;
    }
  }
  return value;
}

TEST_CASE("tl_count: plain descent from TL-LLP's planes comes to the same objective", "[methods][tl_count]") {
  Rng rng(42);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    const World world = random_world(rng, 1 + static_cast<std::size_t>(round % 3), 2, 5, false, 4);
    TlCountOptions o{.C = 1, .C_source = {0.5}, .lambda = 1, .lambda_source = {2}, .tolerance = 1e-10};
    o.exact_up_to = round % 2 == 0 ? 64 : 2;
    o.init = CountStart::kTlLlp;
    o.init = CountStart::kTlLlp;
    const auto fit = fit_tl_count(world.tasks, o, {.threads = 1});
    TlCountOptions none = o;
    none.max_steps = 0;
    const auto start = fit_tl_count(world.tasks, none, {.threads = 1});
    REQUIRE(fit.ok());
    REQUIRE(start.ok());
    CHECK(start->model.training.objective == fit->model.training.objective_history.front());
    const Real lowest =
        descend([&](const RealVector& z) { return stated_objective(world, o, {}, z); }, flat(start->model));
    CHECK(fit->model.training.objective == Approx(static_cast<double>(lowest)).epsilon(1e-6));
  }
}

TEST_CASE("tl_count: sources have three tenths of the cost and ten times the pull unless told",
          "[methods][tl_count]") {
  Rng rng(44);
  const World world = random_world(rng, 3, 3, 8);
  const auto own = fit_tl_count(world.tasks, {.C = 2, .lambda = 0.5}, {.threads = 1});
  const auto told = fit_tl_count(
      world.tasks, {.C = 2, .C_source = {0.6}, .lambda = 0.5, .lambda_source = {5, 5}}, {.threads = 1});
  REQUIRE(own.ok());
  REQUIRE(told.ok());
  CHECK(own->model.tasks.back().weights == told->model.tasks.back().weights);
}

TEST_CASE("tl_count: with a small lambda the target learns alone, with an error proportional to it",
          "[methods][tl_count]") {
  Rng rng(43);
  const World world = random_world(rng, 2, 3, 25);
  const std::vector<TrainingTask> target = {world.tasks.back()};
  double before = 0;
  for (const double lambda : {1e-2, 1e-3, 1e-4}) {
    CAPTURE(lambda);
    TlCountOptions o{.C = 2 * lambda, .C_source = {lambda}, .lambda = lambda, .lambda_source = {lambda}};
    o.tolerance = 1e-13;
    o.init = CountStart::kTlLlp;
    const auto both = fit_tl_count(world.tasks, o, {.threads = 1}),
               alone = fit_tl_count(target, o, {.threads = 1});
    REQUIRE(both.ok());
    REQUIRE(alone.ok());
    const double error = distance(both->model.tasks.back(), alone->model.tasks.back());
    CHECK(error <= 20 * lambda);
    if (before > 0) CHECK(error == Approx(before / 10).epsilon(0.3));
    before = error;
  }
}

TEST_CASE("tl_count: with a large lambda all tasks have one plane", "[methods][tl_count]") {
  Rng rng(44);
  const World world = random_world(rng, 3, 4, 20);
  double before = 0;
  for (const double lambda : {1e3, 1e4, 1e5}) {
    CAPTURE(lambda);
    TlCountOptions o{.C = 1, .C_source = {1}, .lambda = lambda, .lambda_source = {lambda}};
    o.tolerance = 1e-13;
    const auto fit = fit_tl_count(world.tasks, o, {.threads = 1});
    REQUIRE(fit.ok());
    double own = 0;
    for (const TaskReport& task : fit->model.training.tasks) own = std::max(own, task.own_norm);
    CHECK(own <= 100 / lambda);
    CHECK(own > 0);
    if (before > 0) CHECK(own == Approx(before / 10).epsilon(0.1));
    before = own;
  }
}

TEST_CASE("tl_count: without sources lambda only changes what C means", "[methods][tl_count]") {
  Rng rng(45);
  for (int round = 0; round < 5; ++round) {
    const World world = random_world(rng, 1, 3, 25);
    // The penalty of the sum of both parts is lambda / (1 + lambda).
    TlCountOptions a{.C = 0.5, .lambda = 1, .tolerance = 1e-12};
    TlCountOptions b{.C = 0.75, .lambda = 3, .tolerance = 1e-12};
    const auto one = fit_tl_count(world.tasks, a, {.threads = 1}),
               other = fit_tl_count(world.tasks, b, {.threads = 1});
    REQUIRE(one.ok());
    REQUIRE(other.ok());
    CHECK(other->model.training.objective == Approx(1.5 * one->model.training.objective).epsilon(1e-9));
    CHECK(distance(one->model.tasks[0], other->model.tasks[0]) <= 1e-4);
  }
}

// Logistic regression with penalty mu/2 |w|^2 by Newton's method, in long double: the lowest objective.
Real logistic_twin(const DenseView& rows, const std::vector<double>& positive, Real mu, Real cost) {
  const std::size_t d = rows.columns;
  RealVector w(d + 1, 0);
  const auto x = [&](std::size_t i, std::size_t j) { return j < d ? Real(rows.row(i)[j]) : Real(1); };
  const auto f = [&](std::size_t i) {
    Real sum = 0;
    for (std::size_t j = 0; j <= d; ++j) sum += w[j] * x(i, j);
    return sum;
  };
  for (int step = 0; step < 30; ++step) {
    std::vector<RealVector> a(d + 1, RealVector(d + 2, 0));  // the Hessian, and the gradient beside it
    for (std::size_t j = 0; j < d; ++j) a[j][j] = mu, a[j][d + 1] = mu * w[j];
    for (std::size_t i = 0; i < rows.rows; ++i) {
      const Real q = 1 / (1 + std::exp(-f(i)));
      for (std::size_t j = 0; j <= d; ++j) {
        for (std::size_t k = 0; k <= d; ++k) a[j][k] += cost * q * (1 - q) * x(i, j) * x(i, k);
        a[j][d + 1] += cost * (q - positive[i]) * x(i, j);
      }
    }
    for (std::size_t k = 0; k <= d; ++k) {
      for (std::size_t j = 0; j <= d; ++j) {
        if (j == k) continue;
        const Real by = a[j][k] / a[k][k];
        for (std::size_t c = k; c <= d + 1; ++c) a[j][c] -= by * a[k][c];
      }
    }
    for (std::size_t j = 0; j <= d; ++j) w[j] -= a[j][d + 1] / a[j][j];
  }
  Real sum = 0;
  for (std::size_t j = 0; j < d; ++j) sum += mu / 2 * w[j] * w[j];
  for (std::size_t i = 0; i < rows.rows; ++i)
    sum += cost * std::log1p(std::exp(positive[i] > 0.5 ? -f(i) : f(i)));
  return sum;
}

TEST_CASE("tl_count: bags of one row are logistic regression", "[methods][tl_count]") {
  Rng rng(46);
  for (int round = 0; round < 5; ++round) {
    const World world = random_world(rng, 1, 3, 60, false, /*largest=*/1);
    const BaggedData& data = world.data[0];
    TlCountOptions o{.C = 0.7, .lambda = 2, .tolerance = 1e-13};
    const auto fit = fit_tl_count(world.tasks, o, {.threads = 1});
    REQUIRE(fit.ok());
    const Real expected = logistic_twin(std::get<DenseView>(data.features.view()), data.bags.proportions,
                                        2 / Real(3), Real(0.7));
    CHECK(fit->model.training.objective == Approx(static_cast<double>(expected)).epsilon(1e-10));
    CHECK_THAT(fit->model.training.warnings.front(), Catch::Contains("every bag is pure"));
  }
}

TEST_CASE("tl_count: a source of no weight has no say, one of more has more", "[methods][tl_count]") {
  Rng rng(47);
  const World world = random_world(rng, 3, 3, 25);
  const std::vector<TrainingTask> without = {world.tasks[1], world.tasks[2]};
  TlCountOptions o{.C = 1, .C_source = {1e-12, 0.5}, .lambda = 1, .lambda_source = {1, 2}};
  o.tolerance = 1e-12;
  const auto all = fit_tl_count(world.tasks, o, {.threads = 1});
  TlCountOptions few = o;
  few.C_source = {0.5}, few.lambda_source = {2};
  const auto fit = fit_tl_count(without, few, {.threads = 1});
  REQUIRE(all.ok());
  REQUIRE(fit.ok());
  CHECK(distance(all->model.tasks[1], fit->model.tasks[0]) <= 1e-4);
  CHECK(distance(all->model.tasks[2], fit->model.tasks[1]) <= 1e-4);
  // Weights in the other order are another problem.
  std::swap(o.C_source[0], o.C_source[1]);
  const auto other = fit_tl_count(world.tasks, o, {.threads = 1});
  CHECK(distance(all->model.tasks[2], other->model.tasks[2]) > 1e-3);
}

TEST_CASE("tl_count: little noise changes nothing, much of it leaves nothing to learn",
          "[methods][tl_count]") {
  Rng rng(48);
  World world = random_world(rng, 2, 3, 25);
  make_whole(world);
  for (const int exact_up_to : {64, 0}) {
    TlCountOptions o{.C = 1, .C_source = {0.5}, .tolerance = 1e-12};
    o.exact_up_to = exact_up_to;
    World noisy = world;
    for (std::size_t t = 0; t < 2; ++t) noisy.tasks[t].rows = &noisy.data[t];
    const auto exact = fit_tl_count(world.tasks, o, {.threads = 1});
    REQUIRE(exact.ok());
    make_noisy(noisy, 1e-5);
    const auto near = fit_tl_count(noisy.tasks, o, {.threads = 1});
    REQUIRE(near.ok());
    CHECK(near->model.training.objective == Approx(exact->model.training.objective).epsilon(1e-6));
    CHECK(distance(near->model.tasks[1], exact->model.tasks[1]) <= 1e-3);
    make_noisy(noisy, 100);
    const auto lost = fit_tl_count(noisy.tasks, o, {.threads = 1});
    REQUIRE(lost.ok());
    CHECK(norm(lost->model.tasks[1].weights) < 1e-2 * norm(exact->model.tasks[1].weights));
  }
}

TEST_CASE("tl_count: a kernel that is a plane, through all rows as landmarks, is the linear fit",
          "[methods][tl_count]") {
  Rng rng(49);
  const World world = random_world(rng, 2, 3, 20);
  TlCountOptions o{.C = 1, .C_source = {0.5}, .tolerance = 1e-12};
  for (const Scale scale : {Scale::kNone, Scale::kStandard}) {
    o.scale = scale;
    TlCountOptions mapped = o;
    mapped.kernel = KernelKind::kPoly;
    mapped.degree = 1;
    mapped.gamma = 1;
    mapped.nystrom = 1000;
    const auto linear = fit_tl_count(world.tasks, o, {.threads = 1}),
               kernel = fit_tl_count(world.tasks, mapped, {.threads = 1});
    REQUIRE(linear.ok());
    REQUIRE(kernel.ok());
    REQUIRE(kernel->model.expansion.has_value());
    CHECK(kernel->model.training.objective == Approx(linear->model.training.objective).epsilon(1e-8));
    for (std::size_t t = 0; t < 2; ++t) {
      const auto rows = world.data[t].features.view();
      const auto f = Scorer(linear->model, t).scores(rows), g = Scorer(kernel->model, t).scores(rows);
      for (std::size_t i = 0; i < f.size(); ++i) CHECK(g[i] == Approx(f[i]).margin(1e-3));
    }
    CHECK(kernel->model.training.tasks[1].norm == Approx(linear->model.training.tasks[1].norm).epsilon(1e-3));
    CHECK(kernel->model.training.tasks[1].residual.size() == world.data[1].bags.size());
  }
}

TEST_CASE("tl_count: a curved border is found through landmarks, not by a plane", "[methods][tl_count]") {
  Rng rng(50);
  // Positive inside a circle.
  World world;
  BaggedData& data = world.data.emplace_back();
  DenseRows rows(2);
  std::vector<double> positive;
  data.feature_names = {"x", "y"};
  for (std::uint32_t k = 0; k < 80; ++k) {
    double positives = 0;
    for (int i = 0; i < 5; ++i) {
      double* row = rows.append(1);
      row[0] = rng.normal(), row[1] = rng.normal();
      positive.push_back(row[0] * row[0] + row[1] * row[1] < 1.2 ? 1 : 0);
      positives += positive.back();
      data.bag_of_row.push_back(k);
    }
    data.bags.names.push_back(fmt::format("{}", k));
    data.bags.proportions.push_back(positives / 5);
  }
  data.features = Features(std::move(rows));
  world.tasks.push_back({"target", reduce(data), &data});
  const auto accuracy = [&](const TlCountOptions& o) {
    const auto fit = fit_tl_count(world.tasks, o, {.threads = 1});
    REQUIRE(fit.ok());
    const auto f = Scorer(fit->model, 0).scores(data.features.view());
    double right = 0;
    for (std::size_t i = 0; i < f.size(); ++i) right += (f[i] > 0) == (positive[i] > 0.5) ? 1 : 0;
    return right / static_cast<double>(f.size());
  };
  TlCountOptions o{.C = 5};
  CHECK(accuracy(o) < 0.7);
  o.kernel = KernelKind::kRbf;
  o.nystrom = 60;
  CHECK(accuracy(o) > 0.9);
}

TEST_CASE("tl_count: in the metric pca turned rows have the same scores", "[methods][tl_count]") {
  Rng rng(51);
  World world = random_world(rng, 2, 2, 25);
  const Method& method = *find_method("tl-count");
  const OptionTexts options = {{"metric", "pca"}, {"C", "1"}, {"C-source", "0.5"}, {"tolerance", "1e-12"}};
  const auto fit = method.fit(world.tasks, options, {.threads = 1});
  REQUIRE(fit.ok());
  CHECK(fit->model.metric.kind == "pca");
  const auto f = scores(raw_plane(fit->model, 1), world.data[1].features.view());
  for (std::size_t t = 0; t < 2; ++t) {
    const auto rows = std::get<DenseView>(world.data[t].features.view());
    DenseRows turned(rows.rows, 2);
    for (std::size_t i = 0; i < rows.rows; ++i) {
      turned(i, 0) = 0.6 * rows.row(i)[0] - 0.8 * rows.row(i)[1] + 5;
      turned(i, 1) = 0.8 * rows.row(i)[0] + 0.6 * rows.row(i)[1] - 2;
    }
    world.data[t].features = Features(std::move(turned));
    world.tasks[t].reduced = reduce(world.data[t]);
  }
  const auto other = method.fit(world.tasks, options, {.threads = 1});
  REQUIRE(other.ok());
  CHECK(other->model.training.objective == Approx(fit->model.training.objective).epsilon(1e-8));
  const auto g = scores(raw_plane(other->model, 1), world.data[1].features.view());
  for (std::size_t i = 0; i < f.size(); ++i) CHECK(g[i] == Approx(f[i]).margin(1e-3));
}

TEST_CASE("tl_count: the report tells what each bag is off by, and how the planes stand",
          "[methods][tl_count]") {
  Rng rng(52);
  const World world = random_world(rng, 2, 3, 20);
  const auto fit = fit_tl_count(world.tasks, {.scale = Scale::kStandard}, {.seed = 9, .threads = 1});
  REQUIRE(fit.ok());
  const Model& model = fit->model;
  CHECK(model.training.seed == 9);
  CHECK(model.training.bags == world.data[1].bags.size());
  CHECK(*model.training.shared_norm == Approx(norm(model.shared_weights)));
  CHECK(fit->first_solve_seconds <= fit->solve_seconds);
  for (std::size_t t = 0; t < 2; ++t) {
    const TaskReport& report = model.training.tasks[t];
    const BaggedData& data = world.data[t];
    const auto rows = std::get<DenseView>(data.features.view());
    CHECK(report.name == world.tasks[t].name);
    CHECK(report.instances == rows.rows);
    CHECK(report.bag_names == data.bags.names);
    CHECK(report.shift.empty());
    CHECK(report.norm == Approx(norm(model.tasks[t].weights)));
    const Plane plane = raw_plane(model, t);
    std::vector<double> sum(data.bags.size(), 0), size(data.bags.size(), 0);
    for (std::size_t i = 0; i < rows.rows; ++i) {
      double f = plane.bias;
      for (std::size_t j = 0; j < 3; ++j) f += plane.weights[static_cast<Eigen::Index>(j)] * rows.row(i)[j];
      sum[data.bag_of_row[i]] += 1 / (1 + std::exp(-f));
      size[data.bag_of_row[i]] += 1;
    }
    for (std::size_t k = 0; k < sum.size(); ++k)
      CHECK(report.residual[k] == Approx(sum[k] / size[k] - data.bags.proportions[k]).margin(1e-12));
  }
}

TEST_CASE("tl_count: how it ended is told, with what is left to gain", "[methods][tl_count]") {
  Rng rng(53);
  const World world = random_world(rng, 2, 3, 20);
  const auto limited = fit_tl_count(world.tasks, {.tolerance = 1e-9, .max_steps = 2}, {.threads = 1});
  REQUIRE(limited.ok());
  CHECK(limited->model.training.termination == "iteration-limit");
  CHECK(limited->model.training.rounds == 2);
  CHECK_THAT(limited->model.training.warnings.back(), Catch::StartsWith("after 2 steps the next is still"));
  // Stopped in the steps of its own, not in the start's.
  int steps = 0;
  const auto stopped =
      fit_tl_count(world.tasks, {.tolerance = 1e-9}, {.threads = 1, .observer = [&](const Progress& p) {
                                                        steps = p.done >= 3 ? steps + 1 : steps;
                                                        return steps > 0 ? Next::kStop : Next::kContinue;
                                                      }});
  REQUIRE(stopped.ok());
  CHECK(stopped->model.training.termination == "stopped");
  CHECK_THAT(stopped->model.training.warnings.back(), Catch::StartsWith("stopped: the next step"));
  // Where nothing weighs, all rows come out alike.
  const auto idle = fit_tl_count(world.tasks, {.C = 1e-9, .C_source = {1e-9}}, {.threads = 1});
  REQUIRE(idle.ok());
  CHECK_THAT(idle->model.training.warnings.front(), Catch::Contains("for every one of the"));
}

TEST_CASE("tl_count: the number of threads does not change a bit", "[methods][tl_count]") {
  Rng rng(54);
  const World world = random_world(rng, 3, 4, 900, false, 20);
  std::vector<TlCountOptions> roads(2);
  for (TlCountOptions& o : roads) o.max_steps = 5;
  roads[1].kernel = KernelKind::kRbf, roads[1].nystrom = 10;
  for (const TlCountOptions& o : roads) {
    const auto one = fit_tl_count(world.tasks, o, {.threads = 1});
    REQUIRE(one.ok());
    for (const unsigned threads : {2U, 3U}) {
      const auto many = fit_tl_count(world.tasks, o, {.threads = threads});
      REQUIRE(many.ok());
      CHECK(many->model.training.objective_history == one->model.training.objective_history);
      for (std::size_t t = 0; t < 3; ++t) {
        CHECK(many->model.tasks[t].weights == one->model.tasks[t].weights);
        CHECK(many->model.tasks[t].bias == one->model.tasks[t].bias);
        CHECK(many->model.training.tasks[t].residual == one->model.training.tasks[t].residual);
      }
    }
  }
}

TEST_CASE("tl_count: bad options and data are named", "[methods][tl_count][badargs]") {
  Rng rng(55);
  World world = random_world(rng, 3, 2);
  const auto fault = [&](const TlCountOptions& o) {
    const auto fit = fit_tl_count(world.tasks, o, {.threads = 1});
    return fit.ok() ? std::string() : fit.error().text();
  };
  CHECK(fault({}).empty());
  CHECK(fault({.C = 0}) == "C = 0 breaks C > 0");
  CHECK(fault({.lambda_source = {1, -2}}) == "lambda-source = 1,-2 breaks lambda-source > 0");
  CHECK(fault({.exact_up_to = -1}) == "exact-up-to = -1 breaks exact-up-to from 0 to 4096");
  CHECK(fault({.exact_up_to = 4097}) == "exact-up-to = 4097 breaks exact-up-to from 0 to 4096");
  CHECK_THAT(fault({.C_source = {1, 2, 3}}),
             Catch::StartsWith("C-source = 1,2,3 has 3 values, but there are 2 sources"));
  CHECK_THAT(fault({.kernel = KernelKind::kRbf}), Catch::StartsWith("kernel = rbf without nystrom"));
  CHECK_THAT(fault({.nystrom = 5}), Catch::Contains("nystrom"));
  const BaggedData* rows = world.tasks[1].rows;
  world.tasks[1].rows = nullptr;
  CHECK_FALSE(fault({}).empty());
  world.tasks[1].rows = rows;
  // Numbers whose squares are none.
  DenseRows large(std::get<DenseView>(world.data[2].features.view()).rows, 2);
  for (std::size_t i = 0; i < large.rows(); ++i)
    large(i, 0) = 1e200 * rng.normal(), large(i, 1) = rng.normal();
  world.data[2].features = Features(std::move(large));
  world.tasks[2].reduced = reduce(world.data[2]);
  CHECK_THAT(fault({}), Catch::Contains("too large to compute with"));
  world.data[2].bags.proportions.assign(world.data[2].bags.size(), 0.5);
  world.tasks[2].reduced = reduce(world.data[2]);
  CHECK_THAT(fault({}), Catch::Contains("have the proportion 0.5"));
}

TEST_CASE("tl_count: where rows lie in clusters it tells more of them apart than InvCal",
          "[methods][tl_count]") {
  Rng rng(56);
  double ours = 0, means = 0;
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    // Two clusters far apart along the first of several features; the others vary alike in both.
    World world;
    BaggedData& data = world.data.emplace_back();
    constexpr std::size_t kFeatures = 40;
    DenseRows rows(kFeatures);
    std::vector<bool> positive;
    for (std::size_t j = 0; j < kFeatures; ++j) data.feature_names.push_back(fmt::format("x{}", j));
    for (std::uint32_t k = 0; k < 25; ++k) {
      double positives = 0;
      for (int i = 0; i < 16; ++i) {
        positive.push_back(rng.uniform() < 0.5);
        positives += positive.back() ? 1 : 0;
        double* row = rows.append(1);
        for (std::size_t j = 0; j < kFeatures; ++j) row[j] = 2 * rng.normal();
        row[0] = (positive.back() ? 2 : -2) + 0.5 * rng.normal();
        data.bag_of_row.push_back(k);
      }
      data.bags.names.push_back(fmt::format("{}", k));
      data.bags.proportions.push_back(positives / 16);
    }
    data.features = Features(std::move(rows));
    world.tasks.push_back({"target", reduce(data), &data});
    const auto right = [&](const Result<Fit>& fit) {
      REQUIRE(fit.ok());
      const auto f = scores(raw_plane(fit->model, 0), data.features.view());
      double sum = 0;
      for (std::size_t i = 0; i < f.size(); ++i) sum += (f[i] > 0) == positive[i] ? 1 : 0;
      return sum / static_cast<double>(f.size());
    };
    ours += right(fit_tl_count(world.tasks, {.C = 2}, {.threads = 1})) / kRounds;
    double best = 0;  // of all costs, seen with the labels
    for (const double C : {0.01, 0.1, 1.0, 10.0})
      best = std::max(best, right(fit_inv_cal(world.tasks[0], {.C = C}, {.threads = 1})));
    means += best / kRounds;
  }
  CAPTURE(ours, means);
  CHECK(ours > means + 0.03);
  CHECK(ours > 0.95);
}

}  // namespace
}  // namespace bagwise
