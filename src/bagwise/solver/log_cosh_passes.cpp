#include "bagwise/solver/log_cosh_passes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

#include "bagwise/comm/agree.h"
#include "bagwise/comm/over_ranks.h"
#include "bagwise/linalg/blas.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/solver/internal/log_cosh_hessian.h"

namespace bagwise {
namespace {

using Array = Eigen::ArrayXd;
using Index = Eigen::Index;

constexpr Index kLargestMatrix = 400;  // columns: every block has a matrix of its own on the way

// What a pass adds up: sums over rows of log(exp(z) + exp(-z)), tanh(z) x and h x x', for the rows as the
// problem has them.
struct Sums {
  CompensatedSum value;
  Vector slope;      // empty: not asked for
  ColMatrix matrix;  // lower triangle; empty: not asked for
  Vector diagonal;   // of the same, where the matrix would be too large

  void add(const Sums& other) {
    value.add(other.value);
    if (slope.size() > 0) slope += other.slope;
    if (matrix.size() > 0) matrix += other.matrix;
    if (diagonal.size() > 0) diagonal += other.diagonal;
  }
};

// The rows of a block as the problem has them, with the constant last; of sparse rows there are none.
struct WrittenRows {
  RowMatrix rows;
  WrittenRows(const LogCoshPasses& p, const DenseView& from)
      : rows(static_cast<Index>(from.rows), static_cast<Index>(from.columns) + 1) {
    const auto d = static_cast<Index>(from.columns);
    rows.leftCols(d) = from.matrix();
    rows.col(d).setOnes();
    if (p.factor.empty()) return;
    const Eigen::Map<const Eigen::RowVectorXd> shift(p.shift.data(), d), factor(p.factor.data(), d);
    rows.leftCols(d).rowwise() -= shift;
    rows.leftCols(d).array().rowwise() *= factor.array();
  }
};

class Passes {
 public:
  explicit Passes(const LogCoshPasses& problem)
      : p_(problem), stated_{DenseView{}, problem.linear, problem.lambda, problem.shift, problem.factor} {}

  struct Point {
    double value = 0, magnitude = 0;
    Vector gradient;
    ColMatrix matrix;  // F'', lower triangle; or, with many columns:
    Vector diagonal;
  };

  [[nodiscard]] Result<Point> evaluate(const Vector& w) const {
    const Index width = w.size();
    const bool small = width <= kLargestMatrix + 1;
    Sums zero;
    zero.slope = Vector::Zero(width);
    if (small) zero.matrix = ColMatrix::Zero(width, width);
    if (!small) zero.diagonal = Vector::Zero(width);
    auto sums = sum(zero, [&](const RowsView& rows, Sums& part) {
      std::visit([&](const auto& view) { add_point(view, w, part); }, rows);
    });
    if (!sums) return sums.error();
    Point out;
    const double loss = sums->value.value(), penalty = 0.5 * p_.lambda * w.squaredNorm();
    out.value = (loss - p_.linear.dot(w)) + penalty;
    out.magnitude = loss + (p_.linear.array() * w.array()).abs().sum() + penalty;
    out.gradient = (sums->slope - p_.linear) + p_.lambda * w;
    out.matrix = std::move(sums->matrix);
    out.diagonal = std::move(sums->diagonal);
    if (small) out.matrix.diagonal().array() += p_.lambda;
    if (!small) out.diagonal.array() += p_.lambda;
    return out;
  }

  // F''(w) v
  [[nodiscard]] Result<Vector> product(const Vector& w, const Vector& v) const {
    Sums zero;
    zero.slope = Vector::Zero(w.size());
    auto sums = sum(zero, [&](const RowsView& rows, Sums& part) {
      const Array e = (-2 * products(rows, w).abs()).exp();
      add_pulled(rows, 4 * e / (1 + e).square() * products(rows, v), part.slope);
    });
    if (!sums) return sums.error();
    return Vector(sums->slope + p_.lambda * v);
  }

  // How far to go from w along a step so that F is nearly lowest: its slope at several lengths, in one pass.
  [[nodiscard]] Result<double> best_length(const Vector& w, const Vector& step, double longest) const {
    constexpr Index kLengths = 16;
    constexpr double kRatio = 0.7;
    Vector length(kLengths);
    for (Index k = 0; k < kLengths; ++k) length[k] = longest * std::pow(kRatio, static_cast<double>(k));
    Sums zero;
    zero.slope = Vector::Zero(kLengths);
    auto sums = sum(zero, [&](const RowsView& rows, Sums& part) {
      const Array z = products(rows, w), along = products(rows, step);
      for (Index k = 0; k < kLengths; ++k) part.slope[k] += ((z + length[k] * along).tanh() * along).sum();
    });
    if (!sums) return sums.error();
    const double constant = p_.lambda * w.dot(step) - p_.linear.dot(step);
    const Vector slope =
        sums->slope + Vector::Constant(kLengths, constant) + p_.lambda * step.squaredNorm() * length;
    Index k = 0;  // the longest at which F still falls
    while (k < kLengths && slope[k] > 0) ++k;
    if (k == kLengths) return length[kLengths - 1] * kRatio;
    if (k == 0) return length[0];
    const double share = slope[k] / (slope[k] - slope[k - 1]);
    return length[k] + share * (length[k - 1] - length[k]);
  }

  [[nodiscard]] Communicator* comm() const { return p_.comm; }

 private:
  // x.v of every row.
  [[nodiscard]] Array products(const RowsView& rows, const Vector& v) const {
    if (const auto* dense = std::get_if<DenseView>(&rows)) return (WrittenRows(p_, *dense).rows * v).array();
    const internal::StoredWeights stored = internal::to_stored(stated_, v);
    Array out(static_cast<Index>(row_count(rows)));
    multiply(rows, stored.weights, {out.data(), row_count(rows)}, 1);
    return out + stored.constant;
  }

  // Adds sum_j c_j x_j.
  void add_pulled(const RowsView& rows, const Array& c, Vector& out) const {
    if (const auto* dense = std::get_if<DenseView>(&rows)) {
      out.noalias() += WrittenRows(p_, *dense).rows.transpose() * c.matrix();
      return;
    }
    internal::PassSum pulled;
    pulled.columns = multiply_transposed(rows, {c.data(), row_count(rows)}, 1);
    pulled.constant = c.sum();
    out += internal::from_stored(stated_, pulled);
  }

  // With e = exp(-2 |z|) nothing overflows (log_cosh_rows.cpp). Returns tanh(z), and h in `curvature`.
  static Array add_value(const Array& z, Sums& part, Array& curvature) {
    const Array e = (-2 * z.abs()).exp();
    part.value.add((z.abs() + e.log1p()).sum());
    curvature = 4 * e / (1 + e).square();
    return z.sign() * (1 - e) / (1 + e);
  }

  void add_point(const DenseView& view, const Vector& w, Sums& part) const {
    WrittenRows x(p_, view);
    Array curvature;
    const Array slope = add_value((x.rows * w).array(), part, curvature);
    part.slope.noalias() += x.rows.transpose() * slope.matrix();
    if (part.diagonal.size() > 0) {
      part.diagonal.noalias() += x.rows.array().square().matrix().transpose() * curvature.matrix();
      return;
    }
    x.rows.array().colwise() *= curvature.sqrt();
    add_column_gram(x.rows.data(), view.rows, view.columns + 1, part.matrix);
  }

  void add_point(const CsrView& view, const Vector& w, Sums& part) const {
    Array curvature;
    const Array slope = add_value(products(view, w), part, curvature);
    add_pulled(view, slope, part.slope);
    const Index d = w.size() - 1;
    const bool small = part.diagonal.size() == 0;
    // As the rows are stored first: sums of h, h x, and h x^2 or h x x'.
    Vector sums = Vector::Zero(d), squares = Vector::Zero(small ? 0 : d);
    ColMatrix matrix = small ? ColMatrix::Zero(d, d) : ColMatrix();
    for (std::size_t i = 0; i < view.rows; ++i) {
      const auto end = static_cast<std::size_t>(view.start[i + 1]);
      for (auto k = static_cast<std::size_t>(view.start[i]); k < end; ++k) {
        const double value = curvature[static_cast<Index>(i)] * view.values[k];
        sums[view.index[k]] += value;
        if (!small) squares[view.index[k]] += value * view.values[k];
        for (std::size_t l = k; small && l < end; ++l)
          matrix(view.index[l], view.index[k]) += value * view.values[l];
      }
    }
    const double total = curvature.sum();
    const Vector shift =
        p_.factor.empty() ? Vector(Vector::Zero(d)) : Vector(Eigen::Map<const Vector>(p_.shift.data(), d));
    const Vector factor =
        p_.factor.empty() ? Vector(Vector::Ones(d)) : Vector(Eigen::Map<const Vector>(p_.factor.data(), d));
    const Vector scaled = factor.cwiseProduct(sums - total * shift);
    if (!small) {
      part.diagonal.head(d).array() +=
          factor.array().square() *
          (squares.array() - 2 * shift.array() * sums.array() + total * shift.array().square());
      part.diagonal[d] += total;
      return;
    }
    for (Index j = 0; j < d; ++j) {
      part.matrix.col(j).segment(j, d - j).array() +=
          factor[j] * factor.segment(j, d - j).array() *
          (matrix.col(j).segment(j, d - j) + (total * shift[j] - sums[j]) * shift.segment(j, d - j) -
           shift[j] * sums.segment(j, d - j))
              .array();
      part.matrix(d, j) += scaled[j];
    }
    part.matrix(d, d) += total;
  }

  // One pass, over the rows of all ranks.
  template <class Work>
  Result<Sums> sum(const Sums& zero, const Work& work) const {
    Sums total = zero;
    Result<void> passed = p_.pass(
        [&](const RowsView& rows) {
          auto part = std::make_shared<Sums>(zero);
          work(rows, *part);
          return std::shared_ptr<void>(std::move(part));
        },
        [&](const std::shared_ptr<void>& part) { total.add(*static_cast<const Sums*>(part.get())); });
    if (p_.comm != nullptr) passed = agree(*p_.comm, passed);
    if (!passed) return passed.error();
    total.value = sum_over_ranks(p_.comm, total.value);
    for (auto* values : {&total.slope, &total.diagonal})
      sum_over_ranks(p_.comm, {values->data(), static_cast<std::size_t>(values->size())});
    sum_over_ranks(p_.comm, {total.matrix.data(), static_cast<std::size_t>(total.matrix.size())});
    return total;
  }

  const LogCoshPasses& p_;
  LogCoshProblem stated_;  // without its rows
};

// F''(w) step = -gradient, until the residual has shrunk by `reduction`, by one pass per product.
Result<Vector> conjugate_gradients(const Passes& passes, const Vector& w, const Passes::Point& at,
                                   double reduction, double& counted) {
  constexpr int kLimit = 200;
  Vector step = Vector::Zero(w.size()), r = -at.gradient, y = r.cwiseQuotient(at.diagonal), direction = y;
  double rho = r.dot(y);
  const double enough = reduction * reduction * rho;
  for (int k = 0; k < kLimit && rho > enough; ++k) {
    auto product = passes.product(w, direction);
    if (!product) return product.error();
    ++counted;
    const double curvature = direction.dot(*product);
    if (!(curvature > 0)) break;
    const double length = rho / curvature;
    step += length * direction;
    r -= length * *product;
    y = r.cwiseQuotient(at.diagonal);
    const double before = std::exchange(rho, r.dot(y));
    direction = y + (rho / before) * direction;
  }
  return step;
}

}  // namespace

Result<LogCoshSolution> solve_log_cosh_in_passes(const LogCoshPasses& problem, const LogCoshOptions& options,
                                                 const Observer& observer, const LogCoshCourse& course) {
  constexpr double kArmijo = 1e-4, kRounding = 1e-14;
  assert(problem.linear.size() > 0 && problem.lambda > 0 && problem.shift.size() == problem.factor.size());
  const SerialBlas serial;
  const Passes passes(problem);
  Vector w = course.start != nullptr ? *course.start : Vector(Vector::Zero(problem.linear.size()));
  auto evaluated = passes.evaluate(w);
  if (!evaluated) return evaluated.error();
  Passes::Point now = std::move(*evaluated);
  const double first = problem.linear.norm();  // |F'(0)|
  LogCoshSolution out;
  out.passes = 1;
  const auto lower_bound = [&] { return now.value - now.gradient.squaredNorm() / (2 * problem.lambda); };
  const auto finite = [&] { return std::isfinite(now.value) && std::isfinite(lower_bound()); };
  const auto relative = [&] { return first > 0 ? now.gradient.norm() / first : 0; };
  const auto converged = [&] { return relative() <= options.tolerance; };
  const auto certified = [&] { return now.value - lower_bound() <= options.tolerance * std::abs(now.value); };
  int steps = course.steps;
  bool stopped = false;
  while (finite() && !(converged() && certified()) && steps < options.max_iterations) {
    stopped = told_to_stop(
        problem.comm, observer,
        {"solving", static_cast<double>(steps), 0, (now.value - lower_bound()) / std::abs(now.value)});
    if (stopped) break;
    Vector step = -now.gradient;
    Cholesky factor;
    if (now.matrix.size() > 0) {
      if (!factor.factor(now.matrix)) break;
      factor.solve_in_place(step);
    } else {
      auto solved =
          conjugate_gradients(passes, w, now, std::clamp(std::cbrt(relative()), 1e-3, 0.25), out.passes);
      if (!solved) return solved.error();
      step = std::move(*solved);
    }
    const double slope = now.gradient.dot(step);
    if (!(slope < 0)) break;
    const auto is_better = [&](const Passes::Point& point) {
      const bool level = std::abs(point.value - now.value) <= kRounding * now.magnitude;
      return point.value < now.value || (level && point.gradient.norm() < now.gradient.norm());
    };
    Vector trial = w + step;
    auto next = passes.evaluate(trial);
    ++out.passes;
    double longest = 1;
    for (int k = 0; next && k < 4; ++k) {
      const bool level = std::abs(next->value - now.value) <= kRounding * now.magnitude;
      if (next->value <= now.value + kArmijo * longest * slope || (level && is_better(*next))) break;
      auto length = passes.best_length(w, step, longest);
      if (!length) return length.error();
      longest = *length;
      trial = w + longest * step;
      next = passes.evaluate(trial);
      out.passes += 2;
    }
    if (!next) return next.error();
    if (!is_better(*next)) break;
    w = std::move(trial);
    now = std::move(*next);
    ++steps;
    if (course.after_step) {
      if (auto saved = course.after_step(w, steps); !saved) return saved.error();
    }
  }
  out.weights = w;
  out.relative_gradient = relative();
  out.report.primal = now.value;
  out.report.dual = lower_bound();
  out.report.algorithm = "newton-in-passes";
  out.report.termination = !finite()     ? Termination::kNumericalFault
                           : converged() ? Termination::kConverged
                           : stopped     ? Termination::kStopped
                                         : Termination::kIterationLimit;
  out.report.iterations = steps;
  return out;
}

}  // namespace bagwise
