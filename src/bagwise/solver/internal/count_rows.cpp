#include "bagwise/solver/internal/count_rows.h"

#include <cassert>
#include <cmath>

#include "bagwise/core/parallel.h"
#include "bagwise/linalg/kernels.h"

namespace bagwise::internal {
namespace {

constexpr std::size_t kPieceRows = 4096;   // at least, of the bags that one thread does at a time
constexpr std::size_t kSampleRows = 2048;  // at most twice as many tell how features vary

std::span<double> part(Vector& v, Eigen::Index from, Eigen::Index to) {
  return {v.data() + from, static_cast<std::size_t>(to - from)};
}
std::span<const double> part(const Vector& v, Eigen::Index from, Eigen::Index to) {
  return {v.data() + from, static_cast<std::size_t>(to - from)};
}

// Sums of squares of some rows less the centre, over their number; what is not stored is 0.
Vector variances(const DenseView& rows, const Vector& centre, std::size_t stride) {
  Vector out = Vector::Zero(centre.size());
  double count = 0;
  for (std::size_t i = 0; i < rows.rows; i += stride, ++count)
    out.array() += (Eigen::Map<const Vector>(rows.row(i).data(), centre.size()) - centre).array().square();
  return out / count;
}
Vector variances(const CsrView& rows, const Vector& centre, std::size_t stride) {
  Vector out = Vector::Zero(centre.size());
  double count = 0;
  for (std::size_t i = 0; i < rows.rows; i += stride, ++count) {
    for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]);
         ++k)
      out[rows.index[k]] += rows.values[k] * (rows.values[k] - 2 * centre[rows.index[k]]);
  }
  return (out / count + centre.cwiseAbs2()).cwiseMax(0.0);
}

}  // namespace

CountRows::CountRows(const CountProblem& problem, unsigned threads)
    : problem_(problem),
      threads_(threads),
      features_(static_cast<Eigen::Index>(problem.features())),
      first_{0},
      own_scale_(static_cast<Eigen::Index>(problem.tasks.size())) {
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    const CountTask& task = problem.tasks[t];
    const std::size_t rows = row_count(task.rows), bags = task.seen.size();
    assert(task.row.size() == rows && task.start.size() == bags + 1 && task.cost.size() == bags);
    first_.push_back(first_.back() + static_cast<Eigen::Index>(rows));
    own_scale_[static_cast<Eigen::Index>(t)] = 1 / std::sqrt(task.lambda);
    const std::vector<double> share(rows, 1 / static_cast<double>(rows));
    centre_.push_back(multiply_transposed(task.rows, share, threads));
    const std::size_t stride = 1 + rows / kSampleRows;
    spread_.push_back(std::visit([&](const auto& r) { return variances(r, centre_[t], stride); }, task.rows));
    spread_[t] = in_raw_units(in_raw_units(spread_[t]));
    variance_.emplace_back(bags, 0.0);
    for (std::size_t k = 0; k < bags; ++k) {
      total_cost_ += task.cost[k];
      if (k == 0 || task.start[k] - task.start[pieces_.back().from] >= kPieceRows)
        pieces_.push_back({t, k, k});
      pieces_.back().to = k + 1;
    }
  }
  passes_ = 1;
}

Vector CountRows::in_raw_units(const Vector& w) const {
  if (problem_.factor.empty()) return w;
  return w.cwiseProduct(Eigen::Map<const Vector>(problem_.factor.data(), w.size()));
}

Vector CountRows::from_planes(const TubePlanes& planes) const {
  Vector z(size());
  z.head(features_) = planes.shared;
  for (Eigen::Index t = 0; t < tasks(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    z.segment((1 + t) * features_, features_) = planes.own[at] / own_scale_[t];
    Vector centre = centre_[at];
    if (!problem_.shift.empty()) centre -= Eigen::Map<const Vector>(problem_.shift.data(), features_);
    z[held() + t] = planes.bias[at] + in_raw_units(planes.weights(at)).dot(centre);
  }
  return z;
}

TubePlanes CountRows::to_planes(const Vector& z) const {
  TubePlanes out;
  out.shared = z.head(features_);
  for (Eigen::Index t = 0; t < tasks(); ++t) {
    out.own.emplace_back(z.segment((1 + t) * features_, features_) * own_scale_[t]);
    Vector centre = centre_[static_cast<std::size_t>(t)];
    if (!problem_.shift.empty()) centre -= Eigen::Map<const Vector>(problem_.shift.data(), features_);
    out.bias.push_back(z[held() + t] - in_raw_units(weights(z, t)).dot(centre));
  }
  return out;
}

Vector CountRows::products(const Vector& z) const {
  ++passes_;
  Vector f(first_.back());
  for (Eigen::Index t = 0; t < tasks(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    const Vector w = in_raw_units(weights(z, t));
    multiply(problem_.tasks[at].rows, w, part(f, first_[at], first_[at + 1]), threads_);
    f.segment(first_[at], first_[at + 1] - first_[at]).array() += z[held() + t] - w.dot(centre_[at]);
  }
  return f;
}

Vector CountRows::combination(const Vector& c) const {
  ++passes_;
  Vector out = Vector::Zero(size());
  for (Eigen::Index t = 0; t < tasks(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    Vector g = multiply_transposed(problem_.tasks[at].rows, part(c, first_[at], first_[at + 1]), threads_);
    const double sum = c.segment(first_[at], first_[at + 1] - first_[at]).sum();
    g = in_raw_units(g - sum * centre_[at]);
    out.head(features_) += g;
    out.segment((1 + t) * features_, features_) = own_scale_[t] * g;
    out[held() + t] = sum;
  }
  return out;
}

double CountRows::loss(const Vector& f, Vector& slope) {
  slope.resize(f.size());
  std::vector<double> sums(pieces_.size());
  parallel_for(pieces_.size(), threads_, [&](std::size_t p) {
    const Piece& piece = pieces_[p];
    const CountTask& task = problem_.tasks[piece.task];
    const Eigen::Index first = first_[piece.task];
    BagCount count(problem_.exact_up_to);
    std::vector<double> values, slopes;
    for (std::size_t k = piece.from; k < piece.to; ++k) {
      const auto rows = task.row.subspan(task.start[k], task.start[k + 1] - task.start[k]);
      values.resize(rows.size());
      slopes.resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) values[i] = f[first + static_cast<Eigen::Index>(rows[i])];
      const double cost = share_ * task.cost[k];
      sums[p] += cost * count(values, task.seen[k], slopes, variance_[piece.task][k]);
      for (std::size_t i = 0; i < rows.size(); ++i)
        slope[first + static_cast<Eigen::Index>(rows[i])] = cost * slopes[i];
    }
  });
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

// The curvature of cost nll in a plane's direction is at most about cost |B_k| / 4 times the rows' variance,
// if negative too; that of the penalty is 1. A variance of all features stands for that in any direction.
double CountRows::convex_share() const {
  double curvature = 0;
  for (Eigen::Index t = 0; t < tasks(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    const CountTask& task = problem_.tasks[at];
    double rows = 0;
    for (std::size_t k = 0; k < task.seen.size(); ++k)
      rows += task.cost[k] * static_cast<double>(task.start[k + 1] - task.start[k]);
    curvature += rows / 4 * (1 + own_scale_[t] * own_scale_[t]) * spread_[at].sum();
  }
  return curvature > 1 ? 1 / curvature : 1;
}

Vector CountRows::diagonal() const {
  Vector out = Vector::Ones(size());
  for (Eigen::Index t = 0; t < tasks(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    const CountTask& task = problem_.tasks[at];
    double bias = 0, weight = 0;
    for (std::size_t k = 0; k < task.seen.size(); ++k) {
      const double size = static_cast<double>(task.start[k + 1] - task.start[k]);
      bias += share_ * task.cost[k] * variance_[at][k];
      weight += size > 0 ? share_ * task.cost[k] * variance_[at][k] / size : 0;
    }
    out.head(features_) += weight * spread_[at];
    out.segment((1 + t) * features_, features_) += weight * own_scale_[t] * own_scale_[t] * spread_[at];
    out[held() + t] = bias > 0 ? bias : 1;
  }
  return out;
}

}  // namespace bagwise::internal
