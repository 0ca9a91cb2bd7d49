#include "bagwise/methods/tl_llp/tl_llp.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/comm/threads.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "support/transfer_problems.h"
#include "support/tube_certificate.h"

namespace bagwise {
namespace {

using test::at;
using test::distance;
using test::random_bags;
using test::random_world;
using test::World;
using Row = std::vector<long double>;

// The stated objective (P') at a model's planes, by plain loops over the rows of all tasks.
double stated_objective(const World& world, const TlLlpOptions& o, const Model& model) {
  const std::size_t d = model.features.size(), tasks = world.data.size();
  long double sum = 0;
  for (const double w : model.shared_weights) sum += static_cast<long double>(w) * w / 2;
  for (std::size_t t = 0; t < tasks; ++t) {
    const BaggedData& data = world.data[t];
    const auto rows = std::get<DenseView>(data.features.view());
    const TaskModel& plane = model.tasks[t];
    const bool target = t + 1 == tasks;
    const long double lambda = target ? o.lambda : at(o.lambda_source, t),
                      C = target ? o.C : at(o.C_source, t);
    long double raw_square = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const long double v = static_cast<long double>(plane.weights[j]) - model.shared_weights[j];
      const long double raw =
          plane.weights[j] * (model.scaling.factor.empty() ? 1.0L : model.scaling.factor[j]);
      sum += lambda * v * v / 2;
      raw_square += raw * raw;
    }
    const std::size_t n = data.bags.size();
    std::vector<long double> f(n, 0), size(n, 0), bound(n, 0);
    for (std::size_t i = 0; i < data.bag_of_row.size(); ++i) {
      const std::size_t k = data.bag_of_row[i];
      size[k] += 1;
      bound[k] += data.bounds.empty() ? o.delta.value_or(0.01) : data.bounds[i];
      for (std::size_t j = 0; j < d; ++j) {
        long double x = rows.row(i)[j];
        if (!model.scaling.factor.empty()) x = (x - model.scaling.shift[j]) * model.scaling.factor[j];
        f[k] += plane.weights[j] * x;
      }
    }
    for (std::size_t k = 0; k < n; ++k) {
      const long double c = o.clip ? static_cast<long double>(*o.clip) : 1 / (2 * size[k] + 2);
      const long double p = std::min(std::max(static_cast<long double>(data.bags.proportions[k]), c), 1 - c);
      const long double eps = o.tube == Tube::kConstant ? o.epsilon : o.epsilon / (p * (1 - p));
      const long double mean_size =
          static_cast<long double>(data.bag_of_row.size()) / static_cast<long double>(n);
      const long double weight = o.bag_weight == BagWeight::kNone ? 1 : size[k] / mean_size;
      const long double r = f[k] / size[k] + plane.bias - std::log(p / (1 - p));
      const long double free =
          o.uncertainty == Uncertainty::kOff ? 0 : bound[k] / size[k] * std::sqrt(raw_square);
      sum += C * weight * std::max(0.0L, std::abs(r) - eps - free);
    }
  }
  return static_cast<double>(sum);
}

TlLlpOptions random_options(Rng& rng, int round, std::size_t sources) {
  TlLlpOptions o;
  o.C = std::exp2(static_cast<double>(rng.below(10)) - 2);
  o.lambda = std::pow(10, static_cast<double>(rng.below(7)) - 3);
  o.C_source = {0.25 * o.C};
  o.lambda_source = {10 * o.lambda};
  if (sources > 1 && round % 2 == 0) {
    o.C_source.clear(), o.lambda_source.clear();
    for (std::size_t s = 0; s < sources; ++s) {
      o.C_source.push_back(0.1 + rng.uniform());
      o.lambda_source.push_back(0.1 + 10 * rng.uniform());
    }
  }
  o.epsilon = round % 3 == 0 ? 0 : 0.1;
  o.tube = round % 4 == 1 ? Tube::kCalibrated : Tube::kConstant;
  o.bag_weight = round % 5 == 2 ? BagWeight::kSize : BagWeight::kNone;
  o.scale = round % 3 == 1 ? Scale::kStandard : Scale::kNone;
  o.uncertainty = round % 3 == 2 ? Uncertainty::kOff : Uncertainty::kExact;
  if (round % 7 == 0) o.clip = 0.05;
  return o;
}

TEST_CASE("tl_llp: the reported objective is the stated problem's, for every option", "[methods][tl_llp]") {
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const std::size_t tasks = 1 + rng.below(4);
    const World world = random_world(rng, tasks, 1 + rng.below(6), 6, round % 4 == 0);
    TlLlpOptions o = random_options(rng, round, tasks - 1);
    if (world.data[0].bounds.empty() && round % 2 == 0) o.delta = 0.3 * rng.uniform();
    const auto fit = fit_tl_llp(world.tasks, o, {});
    REQUIRE(fit.ok());
    const TrainingReport& report = fit->model.training;
    CHECK(report.objective == Approx(stated_objective(world, o, fit->model)).epsilon(1e-8).margin(1e-12));
    CHECK(*report.relative_gap <= 1e-6);
    const double convex = report.convex_objective.value();
    CHECK(*report.dual_objective <= convex);
    CHECK(report.objective <= convex * (1 + 1e-9));
    CHECK(report.objective == report.objective_history.back());
    CHECK(std::is_sorted(report.objective_history.rbegin(), report.objective_history.rend()));
    CHECK(report.rounds == static_cast<int>(report.objective_history.size()));
    if (o.uncertainty == Uncertainty::kOff) CHECK(report.rounds == 1);
  }
}

TEST_CASE("tl_llp: without transfer the target tends to InvCal, with an error proportional to lambda",
          "[methods][tl_llp]") {
  Rng rng(12);
  for (int round = 0; round < 5; ++round) {
    const World world = random_world(rng, 2 + static_cast<std::size_t>(round % 2), 4, 20);
    const double c_target = 2, c_source = 0.7;
    const auto alone = fit_inv_cal(world.tasks.back(), {.C = c_target, .gap = 1e-12}, {});
    REQUIRE(alone.ok());
    double before = 0;
    for (const double lambda : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
      CAPTURE(round, lambda);
      TlLlpOptions o;
      o.uncertainty = Uncertainty::kOff;
      o.lambda = lambda, o.lambda_source = {lambda};
      o.C = lambda / (1 + lambda) * c_target, o.C_source = {lambda / (1 + lambda) * c_source};
      o.gap = 1e-12;
      const auto fit = fit_tl_llp(world.tasks, o, {});
      REQUIRE(fit.ok());
      const double error = distance(fit->model.tasks.back(), alone->model.tasks.back());
      CHECK(error <= 20 * lambda);
      if (before > 1e-6) CHECK(error == Approx(before / 10).epsilon(0.3));  // until the gap's own error shows
      before = error;
    }
  }
}

TEST_CASE("tl_llp: with lambda without bound all tasks share one plane", "[methods][tl_llp]") {
  Rng rng(13);
  const World world = random_world(rng, 3, 4, 20);
  TlLlpOptions o{.C = 2, .C_source = {0.5}, .uncertainty = Uncertainty::kOff, .gap = 1e-12};
  std::vector<const ReducedBags*> data;
  DenseRows means(4);
  for (const TrainingTask& task : world.tasks) {
    data.push_back(&task.reduced);
    const DenseRows own = task.reduced.sums.means();
    std::copy_n(own.view().values, own.rows() * 4, means.append(own.rows()));
  }
  UncertainTube pooled = tl_llp_problem(data, means.view(), {}, o);
  pooled.problem.lambda.assign(3, std::numeric_limits<double>::infinity());
  const TubeSolution one = solve_tube_regression(pooled.problem, {.gap_tolerance = 1e-12});
  test::expect_optimal(pooled.problem, one, 1e-11);
  double before = 0;
  for (const double lambda : {1e3, 1e4, 1e5, 1e6, 1e7}) {
    CAPTURE(lambda);
    o.lambda = lambda, o.lambda_source = {lambda};
    const auto fit = fit_tl_llp(world.tasks, o, {});
    REQUIRE(fit.ok());
    double error = 0;
    for (std::size_t t = 0; t < 3; ++t) {
      TaskModel plane{"", {one.planes.shared.data(), one.planes.shared.data() + 4}, one.planes.bias[t], {}};
      error = std::max(error, distance(fit->model.tasks[t], plane));
      CHECK(fit->model.training.tasks[t].own_norm <= 10 / lambda);
    }
    CHECK(error <= 100 / lambda);
    if (before > 1e-6) CHECK(error == Approx(before / 10).epsilon(0.3));
    before = error;
  }
}

TEST_CASE("tl_llp: one task alone is InvCal with cost c", "[methods][tl_llp]") {
  Rng rng(14);
  for (int round = 0; round < 20; ++round) {
    const World world = random_world(rng, 1, 1 + rng.below(6), 15);
    TlLlpOptions o;
    o.uncertainty = Uncertainty::kOff;
    o.C = std::exp(2 * rng.normal());
    o.lambda = std::exp(4 * rng.normal());
    const double c = o.C * ((1 + o.lambda) / o.lambda);
    const auto fit = fit_tl_llp(world.tasks, o, {});
    const auto alone = fit_inv_cal(world.tasks[0], {.C = c}, {});
    REQUIRE(fit.ok());
    REQUIRE(alone.ok());
    CHECK(distance(fit->model.tasks[0], alone->model.tasks[0]) <= 1e-12);
    CHECK(fit->model.training.objective ==
          Approx(alone->model.training.objective * o.lambda / (1 + o.lambda)).epsilon(1e-12));
  }
}

TEST_CASE("tl_llp: reported shifts are the least that meet the tube, up to the bound", "[methods][tl_llp]") {
  Rng rng(15);
  int inside = 0, moved = 0, bound = 0;
  for (int round = 0; round < 20; ++round) {
    const World world = random_world(rng, 2, 3, 15, true);
    const TlLlpOptions o{.scale = round % 2 == 0 ? Scale::kNone : Scale::kStandard};
    const auto fit = fit_tl_llp(world.tasks, o, {});
    REQUIRE(fit.ok());
    for (std::size_t t = 0; t < 2; ++t) {
      const TaskReport& report = fit->model.training.tasks[t];
      const BagSums& sums = world.tasks[t].reduced.sums;
      const DenseRows means = sums.means();
      const Plane plane = raw_plane(fit->model, t);
      const auto f = scores(plane, means.view());
      const double reach = plane.weights.norm();
      CHECK(report.bag_names == world.data[t].bags.names);
      CHECK(report.instances == world.data[t].bag_of_row.size());
      for (std::size_t k = 0; k < f.size(); ++k) {
        const double p = clipped_proportion(world.data[t].bags.proportions[k], sums.count(k), {});
        const double r = f[k] - std::log(p / (1 - p));
        CHECK(report.residual[k] == Approx(r).margin(1e-9));
        const double after = std::abs(r + reach * report.shift[k]);
        const double dbar = sums.mean_bound(k);
        CHECK(std::abs(report.shift[k]) <= dbar);
        if (std::abs(r) <= 0.1) {
          CHECK(report.shift[k] == 0);
          ++inside;
        } else if (report.at_bound[k]) {
          CHECK(std::abs(report.shift[k]) == Approx(dbar).epsilon(1e-3));
          CHECK(after >= 0.1 - 1e-9);
          ++bound;
        } else {
          CHECK(after == Approx(0.1).margin(1e-9));
          ++moved;
        }
      }
    }
  }
  CHECK(inside > 20);
  CHECK(moved > 20);
  CHECK(bound > 20);
}

TEST_CASE("tl_llp: the report tells how the planes stand to each other", "[methods][tl_llp]") {
  Rng rng(16);
  const World world = random_world(rng, 3, 4, 15);
  const auto fit = fit_tl_llp(world.tasks, {}, {});
  REQUIRE(fit.ok());
  const Model& model = fit->model;
  const auto vector = [&](const std::vector<double>& w) {
    return Vector(Eigen::Map<const Vector>(w.data(), static_cast<Eigen::Index>(w.size())));
  };
  const Vector w0 = vector(model.shared_weights);
  CHECK(*model.training.shared_norm == Approx(w0.norm()));
  for (std::size_t t = 0; t < 3; ++t) {
    const TaskReport& report = model.training.tasks[t];
    const Vector w = vector(model.tasks[t].weights);
    CHECK(report.norm == Approx(w.norm()));
    CHECK(report.own_norm == Approx((w - w0).norm()));
    CHECK(report.shared_part == Approx(w0.dot(w) / w.squaredNorm()));
    for (std::size_t s = 0; s < 3; ++s) {
      const Vector other = vector(model.tasks[s].weights);
      const double cosine = w.dot(other) / (w.norm() * other.norm());
      CHECK(std::cos(report.angles[s] * std::acos(-1.0) / 180) == Approx(cosine).epsilon(1e-9));
    }
  }
}

// Lemma 3 on the rows themselves: the mean of each bag after its rows have moved, for given planes.
std::vector<Row> moved_means(const World& world, std::size_t t, const Plane& plane, double epsilon,
                             double delta) {
  const BaggedData& data = world.data[t];
  const auto rows = std::get<DenseView>(data.features.view());
  const std::size_t d = rows.columns;
  std::vector<Row> mean(data.bags.size(), Row(d, 0));
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const std::size_t k = data.bag_of_row[i];
    const BagSums& sums = world.tasks[t].reduced.sums;
    const double p = clipped_proportion(data.bags.proportions[k], sums.count(k), {});
    long double f = plane.bias;
    for (std::size_t j = 0; j < d; ++j) f += plane.weights[static_cast<Eigen::Index>(j)] * rows.row(i)[j];
    const long double r = f - std::log(p / (1 - p));
    const long double step = r > epsilon ? -delta : r < -epsilon ? delta : 0;
    for (std::size_t j = 0; j < d; ++j) {
      const long double u = plane.weights[static_cast<Eigen::Index>(j)] / plane.weights.norm();
      mean[k][j] += (rows.row(i)[j] + step * u) / static_cast<long double>(sums.count(k));
    }
  }
  return mean;
}

bool has_single_row(const World& world) {
  for (const TrainingTask& task : world.tasks) {
    for (std::size_t k = 0; k < task.reduced.bags.size(); ++k) {
      if (task.reduced.sums.count(k) == 1) return true;
    }
  }
  return false;
}

TEST_CASE("tl_llp: literal rounds are Lemma 3 on the rows", "[methods][tl_llp]") {
  Rng rng(17);
  int cycles = 0;
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    // Rows that are bags of their own end on the edge of their tubes, where rounding decides whether they
    // move.
    World world = random_world(rng, 2, 3, 12, false, 60);
    while (has_single_row(world)) world = random_world(rng, 2, 3, 12, false, 60);
    TlLlpOptions o{.uncertainty = Uncertainty::kLiteral, .gap = 1e-10, .max_rounds = 2, .tolerance = 0};
    o.delta = 0.2;
    TlLlpOptions off = o;
    off.uncertainty = Uncertainty::kOff;
    const auto first = fit_tl_llp(world.tasks, off, {});
    const auto fit = fit_tl_llp(world.tasks, o, {});
    REQUIRE(first.ok());
    REQUIRE(fit.ok());
    // The second round again: every row of every task moved, the means taken, one convex problem solved.
    DenseRows moved(3);
    std::vector<const ReducedBags*> data;
    for (std::size_t t = 0; t < 2; ++t) {
      data.push_back(&world.tasks[t].reduced);
      for (const Row& mean : moved_means(world, t, raw_plane(first->model, t), o.epsilon, *o.delta)) {
        double* row = moved.append(1);
        for (std::size_t j = 0; j < 3; ++j) row[j] = static_cast<double>(mean[j]);
      }
    }
    const UncertainTube tube = tl_llp_problem(data, moved.view(), {}, off);
    const double second = solve_tube_regression(tube.problem, {.gap_tolerance = 1e-10}).report.primal;
    const auto& history = fit->model.training.objective_history;
    REQUIRE(history.size() == 2);
    CHECK(history[0] == Approx(first->model.training.objective).epsilon(1e-8));
    CHECK(history[1] == Approx(second).epsilon(1e-8));
    CHECK(fit->model.training.objective == std::min(history[0], history[1]));

    o.max_rounds = 60;
    o.tolerance = 1e-6;
    const auto whole = fit_tl_llp(world.tasks, o, {});
    const TrainingReport& report = whole->model.training;
    CHECK(report.objective ==
          *std::min_element(report.objective_history.begin(), report.objective_history.end()));
    cycles += report.termination == "cycle" ? 1 : 0;
    if (report.termination == "cycle")
      CHECK_THAT(report.warnings.back(), Catch::Contains("earlier position"));
    // Ranks that share the rows take the same way.
    std::vector<double> second_over_ranks(2);
    run_thread_ranks(2, [&](Communicator& comm) {
      World mine = world;
      for (std::size_t t = 0; t < 2; ++t) {
        const auto rows = std::get<DenseView>(world.data[t].features.view());
        DenseRows part(3);
        mine.data[t].bag_of_row.clear();
        for (auto i = static_cast<std::size_t>(comm.rank()); i < rows.rows; i += 2) {
          std::copy_n(rows.row(i).data(), 3, part.append(1));
          mine.data[t].bag_of_row.push_back(world.data[t].bag_of_row[i]);
        }
        mine.data[t].features = Features(std::move(part));
        mine.tasks[t].rows = &mine.data[t];
      }
      TlLlpOptions two = o;
      two.max_rounds = 2;
      const auto shared = fit_tl_llp(mine.tasks, two, {.threads = 1, .comm = &comm});
      second_over_ranks[static_cast<std::size_t>(comm.rank())] =
          shared.ok() ? shared->model.training.objective_history[1] : 0;
    });
    for (const double value : second_over_ranks) CHECK(value == Approx(history[1]).epsilon(1e-8));
  }
  CHECK(cycles > 0);
}

TEST_CASE("tl_llp: the number of threads does not change a bit", "[methods][tl_llp]") {
  Rng rng(20);
  const World world = random_world(rng, 3, 5, 40);
  std::vector<TlLlpOptions> roads(5);
  roads[1].uncertainty = Uncertainty::kLiteral;
  roads[2].kernel = KernelKind::kRbf;
  roads[3].kernel = KernelKind::kPoly, roads[3].uncertainty = Uncertainty::kLiteral;
  roads[4].kernel = KernelKind::kRbf, roads[4].nystrom = 20;
  for (TlLlpOptions& o : roads) {
    if (o.nystrom == 0) o.delta = 0.1;
    const auto one = fit_tl_llp(world.tasks, o, {.threads = 1});
    REQUIRE(one.ok());
    for (const unsigned threads : {2U, 3U}) {
      const auto many = fit_tl_llp(world.tasks, o, {.threads = threads});
      REQUIRE(many.ok());
      CHECK(many->model.training.objective_history == one->model.training.objective_history);
      CHECK(many->model.shared_weights == one->model.shared_weights);
      for (std::size_t t = 0; t < 3; ++t) {
        CHECK(many->model.tasks[t].weights == one->model.tasks[t].weights);
        CHECK(many->model.tasks[t].bias == one->model.tasks[t].bias);
        CHECK(many->model.training.tasks[t].shift == one->model.training.tasks[t].shift);
      }
    }
  }
}

TEST_CASE("tl_llp: bad options and data are named", "[methods][tl_llp][badargs]") {
  Rng rng(18);
  World world = random_world(rng, 3, 2);
  const auto fault = [&](const TlLlpOptions& o) {
    const auto fit = fit_tl_llp(world.tasks, o, {});
    return fit.ok() ? std::string() : fit.error().text();
  };
  CHECK(fault({}).empty());
  CHECK(fault({.lambda = 0}) == "lambda = 0 breaks lambda > 0");
  CHECK(fault({.lambda_source = {1, -2}}) == "lambda-source = 1,-2 breaks lambda-source > 0");
  CHECK_THAT(fault({.C_source = {1, 2, 3}}),
             Catch::StartsWith("C-source = 1,2,3 has 3 values, but there are 2 sources"));
  CHECK_THAT(fault({.lambda_source = {}}), Catch::Contains("lambda-source"));
  TlLlpOptions with_delta;
  with_delta.delta = -1;
  CHECK(fault(with_delta) == "delta = -1 breaks delta >= 0");
  with_delta.delta = 0.1;
  world.tasks[1].reduced.has_bounds = true;
  CHECK_THAT(fault(with_delta), Catch::Contains("the source-2 has a delta column"));
  world.tasks[1].reduced.has_bounds = false;

  world.tasks[0].origin = "shop.csv";
  world.tasks[0].reduced.feature_names[1] = "other";
  CHECK_THAT(fault({}), Catch::StartsWith("shop.csv: ") && Catch::Contains("\"other\""));
  world.tasks[0].reduced.feature_names[1] = "x1";
  const ReducedBags whole = world.tasks[0].reduced;
  Rng one_rng(1);
  world.tasks[0].reduced = reduce(random_bags(one_rng, 1, 2));
  CHECK_THAT(fault({}), Catch::Contains("the source has 1 bag"));
  world.tasks[0].reduced = whole;
  world.tasks[0].reduced.bags.proportions.assign(whole.bags.size(), 0.5);
  const auto fit = fit_tl_llp(world.tasks, {}, {});
  REQUIRE(fit.ok());
  REQUIRE(fit->model.training.warnings.size() == 1);
  CHECK_THAT(fit->model.training.warnings[0], Catch::Contains("bags of the source have the proportion 0.5"));
  world.tasks.back().reduced.bags.proportions.assign(world.tasks.back().reduced.bags.size(), 0.5);
  CHECK_THAT(fault({}), Catch::Contains("the target have the proportion 0.5"));
}

TEST_CASE("tl_llp: a delta beyond the data's own scale is remarked on", "[methods][tl_llp]") {
  Rng rng(19);
  const World world = random_world(rng, 2, 2);
  TlLlpOptions o;
  o.delta = 1;
  CHECK(fit_tl_llp(world.tasks, o, {})->model.training.warnings.empty());
  o.delta = 100;
  const auto warnings = fit_tl_llp(world.tasks, o, {})->model.training.warnings;
  REQUIRE(warnings.size() == 2);
  CHECK_THAT(warnings[1], Catch::Contains("rows of the target may be off by 100"));
}

}  // namespace
}  // namespace bagwise
