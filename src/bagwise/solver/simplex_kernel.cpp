#include "bagwise/solver/simplex_kernel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "bagwise/solver/internal/simplex_interior.h"

namespace bagwise {
namespace {

using internal::HeldRows;
using internal::LabelledRows;
using internal::SimplexInterior;
using internal::SimplexPoint;
using Index = Eigen::Index;

RowMatrix label_matrix(const SimplexKernelProblem& p) {
  RowMatrix out(static_cast<Index>(row_count(p.rows)), static_cast<Index>(p.labels.size()));
  for (std::size_t s = 0; s < p.labels.size(); ++s) {
    assert(p.labels[s].size() == row_count(p.rows));
    for (std::size_t j = 0; j < p.labels[s].size(); ++j)
      out(static_cast<Index>(j), static_cast<Index>(s)) = p.labels[s][j];
  }
  return out;
}

// The t >= 0 that minimises 1/2 t^2 square + cost sum_j max(0, 1 - t f_j): exact, by the kinks at 1/f_j.
double best_stretch(const Vector& values, double square, double cost) {
  std::vector<double> f(values.begin(), values.end());
  std::ranges::sort(f, std::greater<>());
  double pull = values.sum(), before = 0;  // of the rows that are not yet at their margin
  for (const double v : f) {
    if (!(v > 0)) break;
    const double root = square > 0 ? cost * pull / square : std::numeric_limits<double>::infinity();
    if (root <= 1 / v) return std::max(root, before);
    before = 1 / v;
    pull -= v;
  }
  return before;
}

// Both values at a point, from the point and the rows alone, with what they were made of. Where a problem is
// hard to solve the point is mostly off in its size: each side takes the multiple of itself that is best for
// it.
struct Certificate {
  double primal = 0, dual = 0;
  double stretch = 1;  // of the planes
  double factor = 1;   // of the multipliers
  RowMatrix planes;
  Vector values;  // f_j

  Certificate(const LabelledRows& rows, double cost, const SimplexPoint& x)
      : planes(rows.planes(x.alpha)), values(rows.slopes(planes) * x.mu) {
    const Vector squares = planes.rowwise().squaredNorm();
    stretch = best_stretch(values, squares.dot(x.mu), cost);
    primal = stretch * stretch * squares.dot(x.mu) / 2 + cost * (1 - stretch * values.array()).max(0).sum();
    const double sum = x.alpha.sum(), most = x.alpha.maxCoeff(), largest = squares.maxCoeff();
    if (most > 0) factor = std::min(cost / most, largest > 0 ? sum / largest : cost / most);
    if (!std::isfinite(factor)) factor = 1;
    dual = factor * sum - factor * factor * largest / 2;
  }
  [[nodiscard]] double gap() const {
    return primal == dual ? 0 : (primal - dual) / std::max(primal, std::numeric_limits<double>::min());
  }
  [[nodiscard]] bool finite() const { return std::isfinite(primal) && std::isfinite(dual); }
};

// What there is at a point, which is put to the multiple of its multipliers that certifies most. Rounding may
// take the gap asked for away again: then it has not been reached.
SimplexKernelSolution solution_at(const LabelledRows& rows, double cost, SimplexPoint point, Termination end,
                                  int steps, double gap_tolerance) {
  point.alpha *= Certificate(rows, cost, point).factor;
  point.alpha = point.alpha.cwiseMax(0.0).cwiseMin(cost);
  Certificate last(rows, cost, point);
  SimplexKernelSolution out;
  out.alpha.assign(point.alpha.begin(), point.alpha.end());
  out.mu.assign(point.mu.begin(), point.mu.end());
  out.planes = std::move(last.planes);
  out.stretch = last.stretch;
  out.report = {.termination = end,
                .primal = last.primal,
                .dual = last.dual,
                .iterations = steps,
                .algorithm = "interior-point"};
  if (end == Termination::kConverged && !(out.report.relative_gap() <= gap_tolerance))
    out.report.termination = Termination::kIterationLimit;
  return out;
}

// Rows are looked at in turns: those whose multipliers are free or may come free are solved for while the
// others are held at 0 or C; then those that were held wrongly join.
class Turns {
 public:
  Turns(const SimplexKernelProblem& problem, const SimplexKernelOptions& options,
        const SimplexKernelSolution* start, const Observer& observer)
      : cost_(problem.cost),
        options_(options),
        observer_(observer),
        rows_(problem.rows, label_matrix(problem), options.threads),
        inside_(row_count(problem.rows), true) {
    const Index n = rows_.size(), labelings = rows_.labelings();
    if (start != nullptr && !start->alpha.empty()) {
      point_.alpha = Eigen::Map<const Vector>(start->alpha.data(), n);
      point_.mu = Vector::Zero(labelings);
      point_.mu.head(static_cast<Index>(start->mu.size())) =
          Eigen::Map<const Vector>(start->mu.data(), static_cast<Index>(start->mu.size()));
      fresh_ = labelings - static_cast<Index>(start->mu.size());
      cold_ = point_.alpha.maxCoeff() <= 0;
    }
    if (cold_) start_anywhere();
  }

  SimplexKernelSolution run() {
    Certificate now(rows_, cost_, point_);
    best_ = point_;
    double best_gap = now.finite() ? now.gap() : std::numeric_limits<double>::infinity();
    Termination end = now.finite() ? Termination::kIterationLimit : Termination::kNumericalFault;
    for (int turn = 0; now.finite(); ++turn) {
      if (now.gap() <= options_.gap_tolerance && !cold_) {
        end = Termination::kConverged;
        break;
      }
      if (!choose_rows(turn, now) || steps_ >= options_.max_iterations) break;
      const bool stopped = solve_inside(now);
      now = Certificate(rows_, cost_, point_);
      if (now.finite() && now.gap() < best_gap) {
        best_gap = now.gap();
        best_ = point_;
      }
      if (stopped) {
        end = Termination::kStopped;
        break;
      }
    }
    return finish(end);
  }

 private:
  void start_anywhere() {
    const Index n = rows_.size(), labelings = rows_.labelings();
    point_.alpha = Vector::Constant(n, cost_ / 2);
    point_.mu = Vector::Constant(labelings, 1.0 / static_cast<double>(labelings));
    const double largest = rows_.planes(point_.alpha).rowwise().squaredNorm().maxCoeff();
    if (largest > 0 && std::isfinite(largest)) point_.alpha *= std::min(1.0, point_.alpha.sum() / largest);
    fresh_ = 0;
  }

  // False where every row that was held is held rightly.
  bool choose_rows(int turn, const Certificate& now) {
    const auto n = static_cast<std::size_t>(rows_.size());
    if (cold_) return true;
    // How far a row's value is on the side where its multiplier belongs to the bound it is nearer to.
    const auto margin = [&](std::size_t j) {
      const auto i = static_cast<Index>(j);
      return point_.alpha[i] < cost_ / 2 ? now.values[i] - 1 : 1 - now.values[i];
    };
    if (turn == 0) {
      const double little = kBound * point_.alpha.mean();
      for (std::size_t j = 0; j < n; ++j) {
        double& alpha = point_.alpha[static_cast<Index>(j)];
        // A new labeling lowers multipliers: those at C are not left there unseen.
        const bool free = alpha > little && (fresh_ > 0 || alpha < cost_ - little);
        inside_[j] = free || margin(j) < kMargin;
        if (!inside_[j]) alpha = alpha < cost_ / 2 ? 0 : cost_;
      }
      return true;
    }
    std::vector<std::size_t> wrong;
    for (std::size_t j = 0; j < n; ++j) {
      if (!inside_[j] && margin(j) < kMargin * std::min(1.0, now.gap())) wrong.push_back(j);
    }
    if (wrong.empty()) return ++retries_ < kRetries;
    std::ranges::sort(wrong, [&](std::size_t a, std::size_t b) {
      return margin(a) < margin(b) || (margin(a) == margin(b) && a < b);
    });
    const auto looked_at = static_cast<std::size_t>(std::count(inside_.begin(), inside_.end(), true));
    wrong.resize(std::min(wrong.size(), std::max<std::size_t>(kLeastJoining, looked_at / 2)));
    for (const std::size_t j : wrong) inside_[j] = true;
    return true;
  }

  // Moves the point; true if the observer stopped it.
  bool solve_inside(const Certificate& before) {
    std::vector<std::size_t> which;
    for (std::size_t j = 0; j < inside_.size(); ++j) {
      if (inside_[j]) which.push_back(j);
    }
    const LabelledRows rows(rows_, which);
    HeldRows held{RowMatrix::Zero(rows_.labelings(), rows_.features()), 0};
    if (which.size() < inside_.size()) {
      Vector alpha = point_.alpha;
      for (const std::size_t j : which) alpha[static_cast<Index>(j)] = 0;
      held = {rows_.planes(alpha), alpha.sum()};
    }
    SimplexPoint start{Vector(static_cast<Index>(which.size())), point_.mu};
    for (std::size_t i = 0; i < which.size(); ++i)
      start.alpha[static_cast<Index>(i)] = point_.alpha[static_cast<Index>(which[i])];
    const auto products = static_cast<double>(2 * start.alpha.size() + rows_.labelings());
    const double far = std::min(kStartGap, std::max(before.gap(), 10 * options_.gap_tolerance));
    const double tau = cold_ ? start.alpha.sum() / products : far * before.primal / products;
    SimplexInterior interior(rows, held, cost_, std::move(start), fresh_, tau);
    // While rows are still to join, not much more exactly than what they will change.
    const bool all = which.size() == inside_.size();
    const double enough = kShare * std::pow(0.1, retries_) *
                          (all ? options_.gap_tolerance
                               : std::max(options_.gap_tolerance, kRough * std::min(1.0, before.gap())));
    bool stopped = false;
    for (int k = 0; steps_ < options_.max_iterations; ++k, ++steps_) {
      const double gap = interior.relative_gap();
      if (tell(observer_, {"solving", static_cast<double>(steps_), 0, gap}) == Next::kStop) {
        stopped = true;
        break;
      }
      if (k > 0 && gap <= enough) break;
      if (!interior.step()) break;
    }
    const SimplexPoint found = interior.point();
    point_.mu = found.mu;
    for (std::size_t i = 0; i < which.size(); ++i)
      point_.alpha[static_cast<Index>(which[i])] = found.alpha[static_cast<Index>(i)];
    fresh_ = 0;
    cold_ = false;
    return stopped;
  }

  // Multipliers next to a bound are put on it where the gap allows.
  void put_on_bounds() {
    SimplexPoint clean = best_;
    const double little = kLittle * clean.alpha.maxCoeff();
    for (double& alpha : clean.alpha) {
      if (alpha < little) alpha = 0;
      if (alpha > cost_ - std::min(little, kLittle * cost_)) alpha = cost_;
    }
    for (double& mu : clean.mu) mu = mu < kLittle ? 0 : mu;
    clean.mu /= clean.mu.sum();
    if (Certificate(rows_, cost_, clean).gap() <= options_.gap_tolerance) best_ = std::move(clean);
  }

  SimplexKernelSolution finish(Termination end) {
    if (end == Termination::kConverged) put_on_bounds();
    return solution_at(rows_, cost_, best_, end, steps_, options_.gap_tolerance);
  }

  static constexpr double kBound = 1e-3;    // of the mean multiplier: nearer to a bound is on it
  static constexpr double kMargin = 0.02;   // rows nearer than this to their margin are looked at
  static constexpr double kStartGap = 0.3;  // complementarity of a start, as a share of the objective
  static constexpr double kShare = 0.3, kRough = 0.03;
  static constexpr double kLittle = 1e-6;
  static constexpr std::size_t kLeastJoining = 100;
  static constexpr int kRetries = 4;  // from where the steps ended, with the same rows

  double cost_;
  SimplexKernelOptions options_;
  const Observer& observer_;
  LabelledRows rows_;
  std::vector<bool> inside_;
  SimplexPoint point_, best_;
  Index fresh_ = 0;  // labelings that the start did not know
  bool cold_ = true;
  int steps_ = 0, retries_ = 0;
};

// The mean squared length of the rows.
double mean_square(const RowsView& rows) {
  double squares = 0;
  for (const double v : stored_values(rows)) squares += v * v;
  return squares / static_cast<double>(std::max<std::size_t>(row_count(rows), 1));
}

// A cost so large that multipliers cancel to planes of few digits: a lower one leads to nearly the same
// planes, which then count at the cost that was asked for. Both dual values are lower bounds of the same
// problem.
void try_lower_cost(const SimplexKernelProblem& problem, double cost, const SimplexKernelOptions& options,
                    const Observer& observer, SimplexKernelSolution& best) {
  const SimplexKernelSolution lower =
      Turns({problem.rows, problem.labels, cost}, options, nullptr, observer).run();
  if (lower.report.termination == Termination::kNumericalFault) return;
  const LabelledRows rows(problem.rows, label_matrix(problem), options.threads);
  const auto n = static_cast<Index>(lower.alpha.size()), labelings = static_cast<Index>(lower.mu.size());
  SimplexKernelSolution found = solution_at(
      rows, problem.cost,
      {Eigen::Map<const Vector>(lower.alpha.data(), n), Eigen::Map<const Vector>(lower.mu.data(), labelings)},
      best.report.termination, best.report.iterations + lower.report.iterations, options.gap_tolerance);
  if (!std::isfinite(found.report.dual) || !(found.report.primal < best.report.primal)) return;
  found.report.dual = std::max(found.report.dual, best.report.dual);
  best = std::move(found);
  if (lower.report.termination == Termination::kStopped) best.report.termination = Termination::kStopped;
  if (best.report.relative_gap() <= options.gap_tolerance) best.report.termination = Termination::kConverged;
}

}  // namespace

SimplexKernelSolution solve_simplex_kernel(const SimplexKernelProblem& problem,
                                           const SimplexKernelOptions& options,
                                           const SimplexKernelSolution* start, const Observer& observer) {
  assert(!problem.labels.empty() && problem.cost > 0);
  SimplexKernelSolution out = Turns(problem, options, start, observer).run();
  if (out.report.termination != Termination::kIterationLimit) return out;
  constexpr double kDear = 1e4, kMost = 1e200;  // costs in units of the kernel
  const double square = mean_square(problem.rows);
  if (!(problem.cost * square < kMost)) {
    out.report.termination = Termination::kNumericalFault;
  } else if (problem.cost * square > kDear) {
    try_lower_cost(problem, kDear / square, options, observer, out);
  }
  return out;
}

}  // namespace bagwise
