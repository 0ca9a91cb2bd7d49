#include <algorithm>
#include <cmath>

#include "bagwise/linalg/spectrum.h"
#include "bagwise/methods/conv_psvm/conv_psvm.h"
#include "bagwise/methods/path_state.h"

namespace bagwise {
namespace {

using Index = Eigen::Index;

// A labeling and its opposite are the same cut.
bool known(const std::vector<Labels>& labels, const Labels& y) {
  Labels opposite = y;
  for (auto& label : opposite) label = static_cast<std::int8_t>(-label);
  return std::ranges::any_of(labels, [&](const Labels& other) { return other == y || other == opposite; });
}

CutsEnd end_of(Termination termination) {
  switch (termination) {
    case Termination::kConverged:
      break;
    case Termination::kStopped:
      return CutsEnd::kStopped;
    case Termination::kNumericalFault:
      return CutsEnd::kNumericalFault;
    case Termination::kIterationLimit:
      return CutsEnd::kIterationLimit;
  }
  return CutsEnd::kConverged;
}

}  // namespace

Cuts cutting_planes(const RowsView& rows, std::size_t coordinates, const FeasibleLabels& feasible,
                    std::vector<Labels> first, const ConvPsvmOptions& options, const Context& context) {
  const LabelingCut cut(rows, coordinates, feasible, context.threads);
  const SimplexKernelOptions solve{.gap_tolerance = gap_on_path(options.gap, context),
                                   .threads = context.threads};
  Cuts out;
  out.labels = std::move(first);
  for (;;) {
    SimplexKernelSolution found_master = solve_simplex_kernel(
        {rows, out.labels, options.C}, solve, out.history.empty() ? nullptr : &out.master, context.observer);
    if (!out.history.empty() && found_master.report.primal > out.history.back()) {
      // What there was, with nothing of the new labeling, is better than what the solver could make of it.
      out.master.mu.push_back(0);
      out.master.report.dual = found_master.report.dual;
      out.master.report.termination = found_master.report.termination;
      out.end = end_of(found_master.report.termination);
      return out;
    }
    out.master = std::move(found_master);
    const double value = out.master.report.primal;
    const double before = out.history.empty() ? value : out.history.back();
    out.history.push_back(value);
    out.steps.push_back(out.master.report.iterations);
    out.end = end_of(out.master.report.termination);
    if (out.end == CutsEnd::kStopped || out.end == CutsEnd::kNumericalFault) return out;

    LabelingCut::Found found = cut.find(out.master.alpha);
    const double largest = out.master.planes.rowwise().squaredNorm().maxCoeff();
    out.violation = largest > 0 ? found.squared_length / largest - 1 : found.squared_length;
    const bool stands = out.history.size() > 1 && before - value <= options.tolerance * before;
    if (out.violation <= options.tolerance || stands || known(out.labels, found.labels)) return out;
    const Progress progress{"cutting", static_cast<double>(out.history.size()),
                            static_cast<double>(options.max_rounds), out.violation};
    if (tell(context.observer, progress) == Next::kStop) {
      out.end = CutsEnd::kStopped;
      return out;
    }
    if (static_cast<int>(out.history.size()) >= options.max_rounds) {
      out.end = CutsEnd::kRoundLimit;
      return out;
    }
    out.labels.push_back(std::move(found.labels));
  }
}

// With the columns sqrt(mu_s) y_s of Z the matrix is Z Z', whose first eigenvector is Z c for the first
// eigenvector c of the small matrix Z' Z.
Vector common_labels(const std::vector<Labels>& labels, std::span<const double> mu) {
  const auto n = static_cast<Index>(labels[0].size()), count = static_cast<Index>(labels.size());
  ColMatrix z(n, count);
  for (Index s = 0; s < count; ++s) {
    const Labels& y = labels[static_cast<std::size_t>(s)];
    const double root = std::sqrt(mu[static_cast<std::size_t>(s)]);
    for (Index j = 0; j < n; ++j) z(j, s) = root * y[static_cast<std::size_t>(j)];
  }
  Vector v = z * spectrum_of(z.transpose() * z).vectors.col(0);
  v *= std::sqrt(static_cast<double>(n)) / v.norm();
  double agreement = 0;
  for (Index j = 0; j < n; ++j) agreement += v[j] * labels[0][static_cast<std::size_t>(j)];
  return agreement < 0 ? Vector(-v) : v;
}

bool opposite_fits_better(const Vector& scores, std::span<const std::size_t> bag_start,
                          std::span<const double> proportions) {
  struct Misfit {
    double absolute = 0, squared = 0;
  };
  const auto misfit = [&](double sign) {
    Misfit out;
    for (std::size_t k = 0; k < proportions.size(); ++k) {
      const auto size = static_cast<double>(bag_start[k + 1] - bag_start[k]);
      if (size == 0) continue;
      double positives = 0;
      for (std::size_t j = bag_start[k]; j < bag_start[k + 1]; ++j)
        positives += sign * scores[static_cast<Index>(j)] > 0 ? 1 : 0;
      const double error = positives / size - proportions[k];
      out.absolute += size * std::abs(error);
      out.squared += size * error * error;
    }
    return out;
  };
  const Misfit as_is = misfit(1), opposite = misfit(-1);
  // Sums of shares that are equal but for rounding are equal.
  const double rounding = 1e-9 * static_cast<double>(scores.size());
  if (std::abs(as_is.absolute - opposite.absolute) > rounding) return opposite.absolute < as_is.absolute;
  return opposite.squared < as_is.squared - rounding;
}

}  // namespace bagwise
