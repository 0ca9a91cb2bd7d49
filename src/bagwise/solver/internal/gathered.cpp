#include "bagwise/solver/internal/gathered.h"

#include <cmath>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/solver/internal/algorithms.h"

namespace bagwise::internal {
namespace {

// The problem with all rows, and what holds them.
struct Whole {
  TubeProblem problem;
  DenseRows dense;
  Csr sparse;
};

void gather(const TubeProblem& p, Whole& out) {
  const auto all = [&](const auto& values) { return gather_over_ranks(p.comm, values); };
  TubeProblem& q = out.problem;
  q = p;
  q.comm = nullptr;
  q.task = all(p.task);
  for (const auto part :
       {&TubeTerms::target, &TubeTerms::tube, &TubeTerms::cost_above, &TubeTerms::cost_below})
    q.*part = all(p.*part);
  q.shift_above = all(p.shift_above);
  q.shift_below = all(p.shift_below);
  if (const auto* dense = std::get_if<DenseView>(&p.rows)) {
    const auto values = all(std::vector<double>(dense->values, dense->values + dense->rows * dense->columns));
    out.dense = DenseRows(dense->columns);
    std::copy(values.begin(), values.end(), out.dense.append(q.size()));
    q.rows = out.dense.view();
    return;
  }
  const auto& csr = std::get<CsrView>(p.rows);
  const auto from = static_cast<std::size_t>(csr.rows > 0 ? csr.start[0] : 0);
  const auto to = static_cast<std::size_t>(csr.rows > 0 ? csr.start[csr.rows] : 0);
  std::vector<std::int64_t> length;
  for (std::size_t i = 0; i < csr.rows; ++i) length.push_back(csr.start[i + 1] - csr.start[i]);
  out.sparse.columns = csr.columns;
  for (const std::int64_t entries : all(length))
    out.sparse.start.push_back(out.sparse.start.back() + entries);
  out.sparse.index = all(std::vector<std::int32_t>(csr.index.data() + from, csr.index.data() + to));
  out.sparse.values = all(std::vector<double>(csr.values.data() + from, csr.values.data() + to));
  q.rows = out.sparse.view();
}

}  // namespace

TubeSolution solve_gathered(const TubeProblem& p, const TubeOptions& options, const Observer& observer) {
  Whole whole;
  gather(p, whole);
  TubeSolution out;
  out.planes.shared = Vector::Zero(static_cast<Eigen::Index>(p.features()));
  out.planes.own.assign(p.tasks(), out.planes.shared);
  out.planes.bias.assign(p.tasks(), 0.0);
  std::vector<double> report(4, 0.0);
  if (p.comm->rank() == 0) {
    out = solve_interior_point(whole.problem, options, observer);
    report = {out.report.primal, out.report.dual, static_cast<double>(out.report.termination),
              static_cast<double>(out.report.iterations)};
  }
  // The others have zeros: the sum is what the first rank has. (A fault's numbers may be none at all.)
  sum_over_ranks(p.comm, report);
  sum_over_ranks(p.comm, {out.planes.shared.data(), p.features()});
  for (Vector& own : out.planes.own) sum_over_ranks(p.comm, {own.data(), p.features()});
  sum_over_ranks(p.comm, out.planes.bias);
  out.multipliers = {};
  out.report.primal = report[0];
  out.report.dual = report[1];
  out.report.termination = static_cast<Termination>(static_cast<int>(report[2]));
  out.report.iterations = static_cast<int>(report[3]);
  out.report.algorithm = "interior-point";
  return out;
}

}  // namespace bagwise::internal
