#include "bagwise/solver/log_cosh_passes.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/comm/threads.h"
#include "bagwise/core/random.h"

namespace bagwise {
namespace {

struct Example {
  DenseRows dense;
  Csr sparse;
  Vector linear;
  std::vector<double> shift, factor;
};

Example make_example(Rng& rng, std::size_t n, std::size_t d, bool scaled, double separation = 0.5) {
  Example out;
  out.dense = DenseRows(n, d);
  out.sparse.columns = d;
  for (std::size_t j = 0; scaled && j < d; ++j) {
    out.shift.push_back(rng.normal());
    out.factor.push_back(0.5 + rng.uniform());
  }
  out.linear = Vector::Zero(static_cast<Eigen::Index>(d) + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const double y = rng.uniform() < 0.4 ? 1 : -1;
    for (std::size_t j = 0; j < d; ++j) {
      if (rng.uniform() < 0.4) continue;
      out.dense(i, j) = rng.normal() + y * separation;
      out.sparse.index.push_back(static_cast<std::int32_t>(j));
      out.sparse.values.push_back(out.dense(i, j));
    }
    out.sparse.start.push_back(static_cast<std::int64_t>(out.sparse.values.size()));
    for (std::size_t j = 0; j < d; ++j) {
      const double x = scaled ? (out.dense(i, j) - out.shift[j]) * out.factor[j] : out.dense(i, j);
      out.linear[static_cast<Eigen::Index>(j)] += 0.9 * y * x;
    }
    out.linear[static_cast<Eigen::Index>(d)] += 0.9 * y;
  }
  return out;
}

// Every `ranks`-th block of a few rows, from the one of this rank on.
RowPass pass_over(const RowsView& rows, std::size_t rank = 0, std::size_t ranks = 1) {
  return [=](const auto& work, const auto& fold) -> Result<void> {
    constexpr std::size_t kBlock = 37;
    for (std::size_t from = rank * kBlock; from < row_count(rows); from += ranks * kBlock) {
      const std::size_t count = std::min(kBlock, row_count(rows) - from);
      if (const auto* dense = std::get_if<DenseView>(&rows)) {
        fold(work(DenseView{dense->values + from * dense->columns, count, dense->columns}));
      } else {
        const auto& csr = std::get<CsrView>(rows);
        fold(work(CsrView{csr.start.subspan(from, count + 1), csr.index, csr.values, count, csr.columns}));
      }
    }
    return {};
  };
}

TEST_CASE("log_cosh_passes: passes find what rows in memory give", "[solver][log_cosh]") {
  Rng rng(1);
  for (int round = 0; round < 12; ++round) {
    const bool scaled = round % 2 == 1, large = round >= 10;
    const Example e = make_example(rng, large ? 900 : 300, large ? 410 : 6, scaled, round % 3 == 0 ? 4 : 0.5);
    const double lambda = std::pow(10.0, round % 4 - 2);
    for (const RowsView& rows : {RowsView(e.dense.view()), RowsView(e.sparse.view())}) {
      const LogCoshSolution known = solve_log_cosh({rows, e.linear, lambda, e.shift, e.factor});
      const LogCoshPasses problem{pass_over(rows), e.linear, lambda, e.shift, e.factor};
      const auto found = solve_log_cosh_in_passes(problem);
      REQUIRE(found.ok());
      CHECK(found->report.termination == Termination::kConverged);
      CHECK(found->report.relative_gap() <= 1e-8);
      CHECK(found->report.primal == Approx(known.report.primal).epsilon(1e-9));
      CHECK((found->weights - known.weights).norm() <= 1e-4 * (known.weights.norm() + 1e-6));
      if (!large) CHECK(found->passes <= 60);
    }
  }
}

TEST_CASE("log_cosh_passes: ranks that share the rows have the same bits", "[solver][log_cosh]") {
  Rng rng(2);
  const Example e = make_example(rng, 400, 5, true);
  const RowsView rows = e.sparse.view();
  const auto alone = solve_log_cosh_in_passes({pass_over(rows), e.linear, 0.1, e.shift, e.factor});
  REQUIRE(alone.ok());
  for (const int ranks : {1, 2, 4, 16}) {  // of 16 some have no rows
    std::vector<Vector> again;
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<Vector> found(static_cast<std::size_t>(ranks));
      std::vector<double> value(static_cast<std::size_t>(ranks));
      run_thread_ranks(ranks, [&](Communicator& comm) {
        const auto rank = static_cast<std::size_t>(comm.rank());
        const auto mine = solve_log_cosh_in_passes({pass_over(rows, rank, static_cast<std::size_t>(ranks)),
                                                    e.linear, 0.1, e.shift, e.factor, &comm});
        if (!mine.ok()) return;
        found[rank] = mine->weights;
        value[rank] = mine->report.primal;
      });
      for (std::size_t r = 0; r < found.size(); ++r) {
        CHECK(found[r] == found[0]);
        CHECK(value[r] == Approx(alone->report.primal).epsilon(1e-9));
      }
      if (repeat == 1) CHECK(again[0] == found[0]);
      again = found;
    }
  }
}

TEST_CASE("log_cosh_passes: a fault of one rank is the fault of all, and stops are", "[solver][log_cosh]") {
  Rng rng(3);
  const Example e = make_example(rng, 200, 4, false);
  std::vector<std::string> told(3);
  std::vector<Termination> ends(3);
  run_thread_ranks(3, [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    int passes = 0;
    LogCoshPasses problem{pass_over(e.dense.view(), rank, 3), e.linear, 1, {}, {}, &comm};
    const auto whole = problem.pass;
    problem.pass = [&](const auto& work, const auto& fold) -> Result<void> {
      if (rank == 1 && ++passes == 3) return Error{"gone"};
      return whole(work, fold);
    };
    const auto found = solve_log_cosh_in_passes(problem);
    told[rank] = found.ok() ? "" : found.error().text();
    problem.pass = whole;
    const auto stopped = solve_log_cosh_in_passes(
        problem, {}, [&](const Progress&) { return rank == 2 ? Next::kStop : Next::kContinue; });
    if (stopped.ok()) ends[rank] = stopped->report.termination;
  });
  for (std::size_t r = 0; r < 3; ++r) {
    CHECK(told[r] == "gone (rank 1)");
    CHECK(ends[r] == Termination::kStopped);
  }
}

TEST_CASE("log_cosh_passes: from the weights after any step the rest has the same bits",
          "[solver][log_cosh]") {
  Rng rng(4);
  const Example e = make_example(rng, 300, 5, false, 3);
  const LogCoshPasses problem{pass_over(e.dense.view()), e.linear, 0.01};
  std::vector<Vector> after;
  const LogCoshCourse watched{.after_step = [&](const Vector& w, int steps) -> Result<void> {
    after.push_back(w);
    CHECK(static_cast<std::size_t>(steps) == after.size());
    return {};
  }};
  const auto whole = solve_log_cosh_in_passes(problem, {}, {}, watched);
  REQUIRE(whole.ok());
  REQUIRE(after.size() > 2);
  for (std::size_t k = 0; k < after.size(); ++k) {
    const auto rest = solve_log_cosh_in_passes(problem, {}, {}, {&after[k], static_cast<int>(k) + 1, {}});
    REQUIRE(rest.ok());
    CHECK(rest->weights == whole->weights);
    CHECK(rest->report.iterations == whole->report.iterations);
  }
}

}  // namespace
}  // namespace bagwise
