#include "bagwise/solver/internal/sparse_newton.h"

#include <algorithm>
#include <cmath>

#include "bagwise/core/parallel.h"
#include "bagwise/solver/internal/blocks.h"

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;

Index as_index(std::size_t n) { return static_cast<Index>(n); }

double dot(const std::vector<Vector>& a, const std::vector<Vector>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k].dot(b[k]);
  return sum;
}

void add(std::vector<Vector>& x, double s, const std::vector<Vector>& step) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] += s * step[k];
}

}  // namespace

void SparseNewton::gather(const CsrView& view, std::span<const Side> sides) {
  sides_.assign(sides.begin(), sides.end());
  start_.assign(1, 0);
  for (const Side& side : sides)
    start_.push_back(start_.back() + view.start[side.row + 1] - view.start[side.row]);
  index_.resize(static_cast<std::size_t>(start_.back()));
  values_.resize(index_.size());
  over_blocks(sides.size(), threads_, [&](std::size_t from, std::size_t to) {
    for (std::size_t j = from; j < to; ++j) {
      const auto first = view.start[sides[j].row], last = view.start[sides[j].row + 1];
      std::copy(view.index.begin() + first, view.index.begin() + last, index_.begin() + start_[j]);
      std::copy(view.values.begin() + first, view.values.begin() + last, values_.begin() + start_[j]);
    }
  });
}

bool SparseNewton::factor(const TubeRows& rows, std::span<const Side> sides, std::span<const double> rest,
                          const Eigen::ArrayXd& bias_weight) {
  constexpr std::size_t kMostParts = 8, kPartRows = 512;
  const TubeProblem& p = rows.problem();
  problem_ = &p;
  threads_ = rows.threads();
  gather(std::get<CsrView>(p.rows), sides);
  parts_ = std::clamp<std::size_t>(sides.size() / kPartRows, 1, kMostParts);
  sums_.assign(parts_, Planes(p.tasks(), Vector::Zero(as_index(p.features()))));
  rest_.assign(rest.begin(), rest.end());
  bias_.assign(bias_weight.data(), bias_weight.data() + bias_weight.size());
  for (const Side& side : sides_) bias_[side.task] += side.weight;
  sum_columns();
  return std::all_of(bias_.begin(), bias_.end(), [](double weight) { return weight > 0; });
}

// What the preconditioner and the biases need of every column.
void SparseNewton::sum_columns() {
  const TubeProblem& p = *problem_;
  const Index d = as_index(p.features());
  columns_.assign(p.tasks(), Vector::Zero(d));
  diagonal_ = columns_;
  std::vector<double> along(p.tasks(), 0.0);
  for (std::size_t j = 0; j < sides_.size(); ++j) {
    const Side& side = sides_[j];
    for (auto k = static_cast<std::size_t>(start_[j]); k < static_cast<std::size_t>(start_[j + 1]); ++k) {
      const double weighted = side.weight * values_[k];
      columns_[side.task][index_[k]] += weighted;
      diagonal_[side.task][index_[k]] += weighted * values_[k];
    }
    along[side.task] += side.weight * side.shift;
  }
  shared_ = Vector::Ones(d);
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    diagonal_[t].array() = (diagonal_[t].array() - columns_[t].array().square() / bias_[t]).max(0.0);
    if (along[t] != 0) columns_[t] += along[t] * p.direction[t];
    const double lambda = p.lambda[t];
    if (std::isfinite(lambda)) {
      shared_.array() += lambda * diagonal_[t].array() / (lambda + diagonal_[t].array());
    } else {
      shared_ += diagonal_[t];
    }
  }
}

SparseNewton::Planes SparseNewton::task_planes(const Planes& x) const {
  Planes w;
  for (std::size_t t = 0, own = 1; t < problem_->tasks(); ++t) {
    w.push_back(x[0]);
    if (std::isfinite(problem_->lambda[t])) w.back() += x[own++];
  }
  return w;
}

SparseNewton::Planes SparseNewton::multiply(const Planes& x) const {
  const TubeProblem& p = *problem_;
  const Planes w = task_planes(x);
  std::vector<double> g(p.tasks(), 0.0);
  for (std::size_t t = 0; p.shifted() && t < p.tasks(); ++t) g[t] = p.direction[t].dot(w[t]);
  std::vector<std::vector<double>> along(parts_, std::vector<double>(p.tasks(), 0.0));
  parallel_for(parts_, threads_, [&](std::size_t part) {
    for (Vector& sum : sums_[part]) sum.setZero();
    const std::size_t end = (part + 1) * sides_.size() / parts_;
    for (std::size_t j = part * sides_.size() / parts_; j < end; ++j) {
      const Side& side = sides_[j];
      const auto from = static_cast<std::size_t>(start_[j]), to = static_cast<std::size_t>(start_[j + 1]);
      const double* plane = w[side.task].data();
      double* sum = sums_[part][side.task].data();
      double product = side.shift * g[side.task];
      for (std::size_t k = from; k < to; ++k) product += values_[k] * plane[index_[k]];
      const double pull = side.weight * product;
      for (std::size_t k = from; k < to; ++k) sum[index_[k]] += pull * values_[k];
      along[part][side.task] += pull * side.shift;
    }
  });
  Planes out = x;
  for (std::size_t t = 0, own = 1; t < p.tasks(); ++t) {
    Vector pulled = std::move(sums_[0][t]);
    double shift = along[0][t] + rest_[t] * g[t];
    for (std::size_t part = 1; part < parts_; ++part) {
      pulled += sums_[part][t];
      shift += along[part][t];
    }
    if (shift != 0) pulled += shift * p.direction[t];
    pulled -= (columns_[t].dot(w[t]) / bias_[t]) * columns_[t];
    out[0] += pulled;
    if (std::isfinite(p.lambda[t])) {
      out[own] = p.lambda[t] * x[own] + pulled;
      ++own;
    }
    sums_[0][t] = std::move(pulled);
  }
  return out;
}

// Per feature, N_t on (w_0 + v_t)^2, lambda_t on v_t^2 and 1 on w_0^2: v_t is eliminated first.
SparseNewton::Planes SparseNewton::precondition(const Planes& r) const {
  const TubeProblem& p = *problem_;
  Planes out = r;
  for (std::size_t t = 0, own = 1; t < p.tasks(); ++t) {
    if (!std::isfinite(p.lambda[t])) continue;
    const auto n = diagonal_[t].array();
    out[0].array() -= n / (p.lambda[t] + n) * r[own++].array();
  }
  out[0].array() /= shared_.array();
  for (std::size_t t = 0, own = 1; t < p.tasks(); ++t) {
    if (!std::isfinite(p.lambda[t])) continue;
    const auto n = diagonal_[t].array();
    out[own].array() = (r[own].array() - n * out[0].array()) / (p.lambda[t] + n);
    ++own;
  }
  return out;
}

TubePlanes SparseNewton::solve(const TubePlanes& gradient, double tolerance) const {
  constexpr int kMostProducts = 500;
  const TubeProblem& p = *problem_;
  Planes r{-gradient.shared};
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    const double bias = gradient.bias[t] / bias_[t];
    r[0] += bias * columns_[t];
    if (std::isfinite(p.lambda[t])) r.push_back(-gradient.own[t] + bias * columns_[t]);
  }
  Planes x(r.size(), Vector::Zero(r[0].size()));
  Planes z = precondition(r), direction = z;
  double rz = dot(r, z);
  const double enough = tolerance * tolerance * dot(r, r);
  for (int k = 0; k < kMostProducts && dot(r, r) > enough; ++k) {
    const Planes image = multiply(direction);
    const double length = rz / dot(direction, image);
    if (!std::isfinite(length)) break;
    add(x, length, direction);
    add(r, -length, image);
    z = precondition(r);
    const double before = rz;
    rz = dot(r, z);
    for (std::size_t i = 0; i < z.size(); ++i) direction[i] = z[i] + (rz / before) * direction[i];
  }
  const Planes w = task_planes(x);
  TubePlanes step;
  step.shared = x[0];
  step.own.assign(p.tasks(), Vector::Zero(x[0].size()));
  for (std::size_t t = 0, own = 1; t < p.tasks(); ++t) {
    step.bias.push_back(-(gradient.bias[t] + columns_[t].dot(w[t])) / bias_[t]);
    if (std::isfinite(p.lambda[t])) step.own[t] = x[own++];
  }
  return step;
}

}  // namespace bagwise::internal
