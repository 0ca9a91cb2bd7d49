// Tube regression whose rows are spread over ranks, against one process that has them all.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/comm/threads.h"
#include "bagwise/core/random.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise {
namespace {

struct Example {
  DenseRows dense;
  Csr sparse;
  TubeProblem problem;  // without rows
};

struct Shape {
  std::size_t rows = 100, features = 4, tasks = 1;
  bool shifted = false, sparse = false;
  double offset = 0, cost = 1;
};

Example make_example(Rng& rng, const Shape& shape) {
  Example out;
  out.dense = DenseRows(shape.features);
  out.sparse.columns = shape.features;
  TubeProblem& p = out.problem;
  p.lambda.clear();
  for (std::size_t t = 0; t < shape.tasks; ++t) {
    p.lambda.push_back(shape.tasks == 1 ? std::numeric_limits<double>::infinity() : std::exp(rng.normal()));
    Vector u(static_cast<Eigen::Index>(shape.features));
    for (double& v : u) v = rng.normal();
    if (shape.shifted) p.direction.push_back(u.normalized());
  }
  for (std::size_t i = 0; i < shape.rows; ++i) {
    double* row = out.dense.append(1);
    double value = 0.3 * rng.normal();
    for (std::size_t j = 0; j < shape.features; ++j) {
      row[j] = rng.uniform() < 0.3 ? 0 : rng.normal() + shape.offset;
      value += row[j] * (j % 2 == 0 ? 1 : -0.5);
      if (row[j] == 0) continue;
      out.sparse.index.push_back(static_cast<std::int32_t>(j));
      out.sparse.values.push_back(row[j]);
    }
    out.sparse.start.push_back(static_cast<std::int64_t>(out.sparse.values.size()));
    p.task.push_back(static_cast<std::uint32_t>(i * shape.tasks / shape.rows));
    p.target.push_back(value);
    p.tube.push_back(0.1 * rng.uniform());
    p.cost_above.push_back(shape.cost * rng.uniform());
    p.cost_below.push_back(shape.cost * rng.uniform());
    if (!shape.shifted) continue;
    p.shift_above.push_back(-0.1 * rng.uniform());
    p.shift_below.push_back(-0.1 * rng.uniform());
  }
  return out;
}

// The rows with which(i) == rank, and what holds them.
struct Part {
  DenseRows dense;
  Csr sparse;
  TubeProblem problem;
};
template <class Which>
void take_part(const Example& e, const Shape& shape, std::size_t rank, const Which& which, Part& out) {
  std::vector<std::size_t> mine;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    if (which(i) == rank) mine.push_back(i);
  }
  const TubeProblem& from = e.problem;
  TubeProblem& to = out.problem;
  to.lambda = from.lambda;
  to.direction = from.direction;
  for (const std::size_t i : mine) {
    to.task.push_back(from.task[i]);
    to.target.push_back(from.target[i]);
    to.tube.push_back(from.tube[i]);
    to.cost_above.push_back(from.cost_above[i]);
    to.cost_below.push_back(from.cost_below[i]);
    if (from.shift_above.empty()) continue;
    to.shift_above.push_back(from.shift_above[i]);
    to.shift_below.push_back(from.shift_below[i]);
  }
  out.dense = take_rows(e.dense.view(), mine);
  out.sparse = take_rows(e.sparse.view(), mine);
  to.rows = out.dense.view();
  if (shape.sparse) to.rows = out.sparse.view();
}

void check_spread(const Example& e, const Shape& shape, const TubeOptions& options, int ranks, int way) {
  TubeProblem whole = e.problem;
  whole.rows = e.dense.view();
  if (shape.sparse) whole.rows = e.sparse.view();
  const TubeSolution alone = solve_tube_regression(whole, options);
  const auto count = static_cast<std::size_t>(ranks);
  const auto which = [&](std::size_t i) {
    if (way == 0) return i % count;
    if (way == 1) return i * (count - 1) / shape.rows;  // the last has none
    return e.problem.target[i] > 0 ? std::size_t{0} : count - 1;
  };
  std::vector<TubeSolution> found(count), again(count);
  std::vector<double> primal(count), dual(count);
  run_thread_ranks(ranks, [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    Part part;
    take_part(e, shape, rank, which, part);
    part.problem.comm = &comm;
    TubeOptions mine = options;
    mine.threads = 1;
    found[rank] = solve_tube_regression(part.problem, mine);
    mine.threads = 2;
    again[rank] = solve_tube_regression(part.problem, mine);
    primal[rank] = primal_value(part.problem, found[rank].planes);
    dual[rank] = dual_value(part.problem, found[rank].multipliers);
  });
  CHECK(alone.report.termination == Termination::kConverged);
  CHECK(found[0].report.termination == Termination::kConverged);
  CHECK(found[0].report.primal == Approx(alone.report.primal).epsilon(1e-9));
  CHECK(primal_value(whole, found[0].planes) == Approx(found[0].report.primal).epsilon(1e-11));
  CHECK(primal[0] == Approx(found[0].report.primal).epsilon(1e-11));
  CHECK(dual[0] == Approx(found[0].report.dual).epsilon(1e-9));
  for (std::size_t r = 0; r < count; ++r) {
    for (const TubeSolution* other : {&found[r], &again[r]}) {
      CHECK(other->planes.shared == found[0].planes.shared);
      CHECK(other->planes.bias == found[0].planes.bias);
      for (std::size_t t = 0; t < shape.tasks; ++t) CHECK(other->planes.own[t] == found[0].planes.own[t]);
      CHECK(other->report.primal == found[0].report.primal);
      CHECK(other->report.dual == found[0].report.dual);
    }
  }
}

TEST_CASE("tube_ranks: rows spread over ranks give the planes of one process", "[solver][tube][spmd]") {
  Rng rng(1);
  for (int round = 0; round < 24; ++round) {
    const std::size_t rows[] = {12, 150, 700}, tasks[] = {1, 2, 3};
    const Shape shape{.rows = rows[round % 3],
                      .features = 1 + static_cast<std::size_t>(round) % 5,
                      .tasks = tasks[(round / 3) % 3],
                      .shifted = round % 2 == 1,
                      .sparse = round % 4 == 2,
                      .offset = round % 5 == 0 ? 1000.0 : 0.0,
                      .cost = round % 7 == 0 ? 20.0 : 1.0};
    CAPTURE(round, shape.rows, shape.features, shape.tasks, shape.shifted, shape.sparse, shape.offset);
    const Example e = make_example(rng, shape);
    for (const int ranks : {1, 2, 3 + round % 2}) {
      CAPTURE(ranks);
      check_spread(e, shape, {.gap_tolerance = 1e-10}, ranks, ranks == 1 ? 0 : round % 3);
    }
  }
}

TEST_CASE("tube_ranks: many rows start from a sample of all ranks", "[solver][tube][spmd]") {
  Rng rng(2);
  for (const bool sparse : {false, true}) {
    const Shape shape{.rows = 12000, .features = 3, .tasks = 2, .shifted = !sparse, .sparse = sparse};
    const Example e = make_example(rng, shape);
    for (const int way : {0, 1, 2}) check_spread(e, shape, {.gap_tolerance = 1e-10}, 3, way);
  }
}

TEST_CASE("tube_ranks: a stop that one rank asks for stops all", "[solver][tube][spmd]") {
  Rng rng(3);
  const Shape shape{.rows = 300, .features = 4};
  const Example e = make_example(rng, shape);
  std::vector<Termination> ends(3);
  run_thread_ranks(3, [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    Part part;
    take_part(
        e, shape, rank, [](std::size_t i) { return i % 3; }, part);
    part.problem.comm = &comm;
    const Observer stop = [&](const Progress& p) {
      return rank == 1 && p.done >= 2 ? Next::kStop : Next::kContinue;
    };
    ends[rank] =
        solve_tube_regression(part.problem, {.gap_tolerance = 1e-12}, nullptr, stop).report.termination;
  });
  for (const Termination end : ends) CHECK(end == Termination::kStopped);
}

}  // namespace
}  // namespace bagwise
