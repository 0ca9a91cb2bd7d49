#include "bagwise/solver/internal/newton_system.h"

#include <algorithm>
#include <cmath>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/core/parallel.h"
#include "bagwise/solver/internal/blocks.h"
#include "bagwise/solver/internal/side_products.h"

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;

using Array = Eigen::ArrayXd;

Index as_index(std::size_t n) { return static_cast<Index>(n); }

// The two sides of a row as one, since D1 (a + s u)(a + s u)' + D2 (a - s' u)(a - s' u)' is
// D (a + m u)(a + m u)' + rest u u', with D = D1 + D2, the mean m of s and -s', and the rest D1 D2/D (s +
// s')^2.
std::vector<Side> weighted_rows(const TubeProblem& p, const Array& weight, unsigned threads) {
  const Index n = as_index(p.size());
  const auto parts = parts_of_blocks(
      p.size(), threads, std::vector<Side>(), [&](std::size_t from, std::size_t to, std::vector<Side>& part) {
        for (std::size_t k = from; k < to; ++k) {
          const double above = weight[as_index(k)], below = weight[n + as_index(k)], both = above + below;
          if (!(both > 0)) continue;
          const double mean =
              p.shifted() ? (above * p.shift_above[k] - below * p.shift_below[k]) / both : 0.0;
          part.push_back(
              {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(p.task_of(k)), 1, mean, both});
        }
      });
  std::vector<Side> out;
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

// D1 D2/D (s + s'): what a move g along u adds to the reactions of both sides of a row, per unit of g.
double rest_slope(const TubeProblem& p, const Array& weight, std::size_t row) {
  const double above = weight[as_index(row)], below = weight[as_index(p.size() + row)];
  if (!p.shifted() || !(above > 0) || !(below > 0)) return 0;
  return above * (below / (above + below)) * (p.shift_above[row] + p.shift_below[row]);
}

// The share of the gradient that a step on road 3 may leave, chosen with the other settings of solve_sparse:
// a step solved closely is soon undone by the rows that it moves to the edge of their tube.
constexpr double kSparseTolerance = 0.4;
constexpr double kSafeWeight = 1e8;  // in units of the kernel's inverse

}  // namespace

NewtonSystem::NewtonSystem(const TubeRows& rows, Road road)
    : rows_(rows), road_(road), kernel_scale_(kernel_scales(rows.problem())) {}

bool NewtonSystem::rows_are_cheaper() const {
  if (is_shared(rows_.problem().comm)) return false;  // no rank has them all
  if (road_ != Road::kAutomatic) return road_ == Road::kRows;
  const double m = static_cast<double>(sides_.size()), d = static_cast<double>(rows_.problem().features());
  const double tasks = static_cast<double>(rows_.problem().tasks());
  // Multiplications: a Gram matrix and a factor on either road; an inverse per task on the second. Inner
  // products of rows that are kept serve about ten steps.
  const double n = static_cast<double>(rows_.problem().size());
  const double products = row_products_.size() > 0 ? 0 : rows_can_be_kept() ? n * n * d / 20 : m * m * d / 2;
  const double by_rows = products + m * m * m / 6;
  const double by_features = m * d * d / 2 + d * d * d / 6 + (tasks > 1 ? tasks * d * d * d / 2 : 0);
  if (!(by_rows < by_features)) return false;
  // More rows than features: K has no full rank, and K + 1/D is then only as good as 1/D is large against K.
  // On raw units (a column of time stamps) the road by features still finds the answer where this one does
  // not.
  if (m > d) {
    double largest = 0;
    for (const Side& side : sides_) largest = std::max(largest, side.weight * kernel_scale_[side.task]);
    if (!(largest <= kSafeWeight)) return false;
  }
  return true;
}

bool NewtonSystem::factor(const Array& weight, const Array& bias_weight) {
  const TubeProblem& p = rows_.problem();
  weight_ = weight;
  bias_weight_ = bias_weight;
  sides_ = weighted_rows(p, weight, rows_.threads());
  rest_.assign(p.tasks(), 0.0);
  if (p.shifted()) {
    for (const Side& side : sides_) {
      rest_[side.task] +=
          rest_slope(p, weight_, side.row) * (p.shift_above[side.row] + p.shift_below[side.row]);
    }
  }
  sum_over_ranks(p.comm, rest_);
  if (road_ == Road::kSparse) return sparse_.factor(rows_, sides_, rest_, bias_weight_);
  by_rows_ = rows_are_cheaper();
  if (!by_rows_) return factor_features();
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    if (rest_[t] > 0) sides_.push_back({0, static_cast<std::uint32_t>(t), 0, 1, rest_[t]});
  }
  return factor_rows();
}

NewtonSystem::Step NewtonSystem::solve(const TubePlanes& gradient, const Array& offset) const {
  if (by_rows_) {
    RowStep step = solve_rows(gradient, &offset);
    Array products = side_products(rows_, step.x), reaction = side_reactions(step, offset);
    return {std::move(step.x), std::move(products), std::move(reaction)};
  }
  TubePlanes right = pull_sides(rows_, weight_ * offset);
  add_scaled(right, 1.0, gradient);
  Step step;
  step.x = solve_features(right);
  step.products = side_products(rows_, step.x);
  step.reaction = weight_ * (step.products + offset);
  return step;
}

NewtonSystem::Step NewtonSystem::solve(const TubePlanes& gradient) const {
  Step step;
  step.x = road_ == Road::kSparse ? sparse_.solve(gradient, kSparseTolerance)
           : by_rows_             ? solve_rows(gradient, nullptr).x
                                  : solve_features(gradient);
  step.products = side_products(rows_, step.x);
  return step;
}

// A few thousand rows at most, so that their products take no more memory than 32 MB.
bool NewtonSystem::rows_can_be_kept() const { return rows_.problem().size() <= 2000; }

void NewtonSystem::keep_products() {
  const TubeProblem& p = rows_.problem();
  const std::size_t n = p.size(), d = p.features();
  std::vector<Side> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i].row = static_cast<std::uint32_t>(i);
  std::vector<double> values(n * d);
  rows_.gather(all, /*scaled=*/false, /*extra=*/0, values.data());
  row_products_ = ColMatrix::Zero(as_index(n), as_index(n));
  add_row_gram(values.data(), n, d, row_products_);
  row_products_.triangularView<Eigen::StrictlyUpper>() = row_products_.transpose();
  if (!p.shifted()) return;
  along_.resize(as_index(n), as_index(p.tasks()));
  for (std::size_t t = 0; t < p.tasks(); ++t)
    dense_multiply(values.data(), n, d, p.direction[t].data(), along_.col(as_index(t)).data());
  directions_.resize(as_index(p.tasks()), as_index(p.tasks()));
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    for (std::size_t s = 0; s < p.tasks(); ++s)
      directions_(as_index(t), as_index(s)) = p.direction[t].dot(p.direction[s]);
  }
}

ColMatrix NewtonSystem::side_gram() const {
  const TubeProblem& p = rows_.problem();
  const std::size_t m = sides_.size();
  ColMatrix k(as_index(m), as_index(m));
  if (row_products_.size() == 0) {
    k.setZero();
    add_row_gram(gathered_.data(), m, p.features(), k);
    return k;
  }
  for (std::size_t j = 0; j < m; ++j) {
    const Side& b = sides_[j];
    const double* column = row_products_.col(b.row).data();
    double* out = k.col(as_index(j)).data();
    for (std::size_t i = j; i < m; ++i) out[i] = sides_[i].sign * b.sign * column[sides_[i].row];
    if (!p.shifted()) continue;
    for (std::size_t i = j; i < m; ++i) {
      const Side& a = sides_[i];
      out[i] += a.sign * b.shift * along_(a.row, b.task) +
                a.shift * (b.sign * along_(b.row, a.task) + b.shift * directions_(a.task, b.task));
    }
  }
  return k;
}

// Road 1. The step is -R''^-1 (g + A' h) for reactions h with (K + 1/D) h = offset + E db - A R''^-1 g.
bool NewtonSystem::factor_rows() {
  const TubeProblem& p = rows_.problem();
  const std::size_t m = sides_.size(), d = p.features();
  gathered_.resize(m * d);
  rows_.gather(sides_, /*scaled=*/false, /*extra=*/0, gathered_.data());
  if (row_products_.size() == 0 && rows_can_be_kept()) keep_products();
  ColMatrix k = side_gram();
  for (std::size_t j = 0; j < m; ++j) {
    const double own = 1 / p.lambda[sides_[j].task];
    for (std::size_t i = j; i < m; ++i) {
      if (sides_[i].task == sides_[j].task) k(as_index(i), as_index(j)) *= 1 + own;
    }
    k(as_index(j), as_index(j)) += 1 / sides_[j].weight;
  }
  if (!kernel_.factor(std::move(k))) return false;

  ColMatrix e = ColMatrix::Zero(as_index(m), as_index(p.tasks()));
  for (std::size_t j = 0; j < m; ++j) e(as_index(j), as_index(sides_[j].task)) = sides_[j].sign;
  bias_columns_ = ColMatrix(e);  // moved: where Eigen copies to another size and has no memory it frees twice
  kernel_.solve_in_place(bias_columns_);
  ColMatrix s = e.transpose() * bias_columns_;
  s.diagonal().array() += bias_weight_;
  return bias_.factor(std::move(s));
}

NewtonSystem::RowStep NewtonSystem::solve_rows(const TubePlanes& g, const Array* offset) const {
  const TubeProblem& p = rows_.problem();
  const std::size_t m = sides_.size(), d = p.features(), tasks = p.tasks();
  std::vector<Vector> seen(tasks);  // R''^-1 g as task t's planes see it
  for (std::size_t t = 0; t < tasks; ++t) {
    seen[t] = g.shared;
    if (std::isfinite(p.lambda[t])) seen[t] += g.own[t] / p.lambda[t];
  }
  Vector c(as_index(m));
  const Eigen::Map<const RowMatrix> a(gathered_.data(), as_index(m), as_index(d));
  const Index n = as_index(p.size());
  std::vector<double> rest_offset(tasks, 0.0);
  for (std::size_t j = 0; j < m; ++j) {
    const Side& side = sides_[j];
    const Index above = as_index(side.row), below = n + above;
    double k = 0;
    if (offset != nullptr && side.sign == 0) {
      k = rest_offset[side.task] / side.weight;
    } else if (offset != nullptr) {
      k = (weight_[above] * (*offset)[above] - weight_[below] * (*offset)[below]) / side.weight;
      rest_offset[side.task] += rest_slope(p, weight_, side.row) * ((*offset)[above] + (*offset)[below]);
    }
    c[as_index(j)] = a.row(as_index(j)).dot(seen[side.task]) - k;
  }

  Vector db(as_index(tasks));
  for (std::size_t t = 0; t < tasks; ++t) db[as_index(t)] = -g.bias[t];
  db += bias_columns_.transpose() * c;
  bias_.solve_in_place(db);
  Vector h = -c;
  kernel_.solve_in_place(h);
  h += bias_columns_ * db;

  TubePlanes step;
  step.shared = -g.shared;
  step.own.assign(tasks, Vector::Zero(as_index(d)));
  std::vector<Vector> pulled(tasks, Vector::Zero(as_index(d)));  // A_t' h
  for (std::size_t j = 0; j < m; ++j)
    pulled[sides_[j].task] += h[as_index(j)] * a.row(as_index(j)).transpose();
  for (std::size_t t = 0; t < tasks; ++t) {
    step.shared -= pulled[t];
    if (std::isfinite(p.lambda[t])) step.own[t] = -(g.own[t] + pulled[t]) / p.lambda[t];
  }
  step.bias.assign(db.data(), db.data() + db.size());

  return {std::move(step), std::move(h)};
}

// The reaction of a joined side is that above less that below; each side's own share follows without
// cancellation.
Array NewtonSystem::side_reactions(const RowStep& step, const Array& offset) const {
  const TubeProblem& p = rows_.problem();
  const Index n = as_index(p.size());
  std::vector<double> along(p.tasks(), 0.0);
  for (std::size_t t = 0; p.shifted() && t < p.tasks(); ++t) along[t] = p.direction[t].dot(step.x.weights(t));
  Array reaction = Array::Zero(2 * n);
  for (std::size_t j = 0; j < sides_.size(); ++j) {
    const Side& side = sides_[j];
    if (side.sign == 0) continue;
    const Index above = as_index(side.row), below = n + above;
    const double h = step.reaction[as_index(j)], share = weight_[above] / side.weight;
    const double both = share * weight_[below] * (offset[above] + offset[below]) +
                        rest_slope(p, weight_, side.row) * along[side.task];
    reaction[above] = share * h + both;
    reaction[below] = both - (1 - share) * h;
  }
  return reaction;
}

// N_t, summed in fixed groups of sides so that the bits do not depend on the number of threads.
std::vector<ColMatrix> NewtonSystem::task_grams() const {
  constexpr std::size_t kPanel = 512, kGroups = 16;
  const std::size_t m = sides_.size(), width = rows_.problem().features() + 1;
  const std::size_t tasks = rows_.problem().tasks();
  const std::size_t per_group = std::max(kPanel, (m / kGroups / kPanel + 1) * kPanel);
  const std::size_t groups = (m + per_group - 1) / per_group;
  std::vector<std::vector<ColMatrix>> parts(groups);
  parallel_for(groups, rows_.threads(), [&](std::size_t group) {
    std::vector<double> panel(kPanel * width);
    auto& sums = parts[group];
    sums.resize(tasks);
    const std::size_t end = std::min(m, (group + 1) * per_group);
    for (std::size_t from = group * per_group; from < end;) {
      const std::size_t task = sides_[from].task;
      std::size_t to = from + 1;
      while (to < end && to - from < kPanel && sides_[to].task == task) ++to;
      if (sums[task].size() == 0) sums[task] = ColMatrix::Zero(as_index(width), as_index(width));
      rows_.gather(std::span(sides_).subspan(from, to - from), /*scaled=*/true, /*extra=*/1, panel.data());
      add_column_gram(panel.data(), to - from, width, sums[task]);
      from = to;
    }
  });
  std::vector<ColMatrix> out(tasks, ColMatrix::Zero(as_index(width), as_index(width)));
  for (const auto& part : parts) {
    for (std::size_t t = 0; t < tasks; ++t) {
      if (part[t].size() > 0) out[t].triangularView<Eigen::Lower>() += part[t];
    }
  }
  for (ColMatrix& n : out) sum_over_ranks(rows_.problem().comm, {n.data(), width * width});
  for (std::size_t t = 0; t < tasks; ++t) {
    const Index d = as_index(width - 1);
    if (rest_[t] > 0)
      out[t].topLeftCorner(d, d).selfadjointView<Eigen::Lower>().rankUpdate(rows_.problem().direction[t],
                                                                            rest_[t]);
  }
  for (auto& n : out) n.triangularView<Eigen::StrictlyUpper>() = n.transpose();
  return out;
}

// Road 2. Each task's (v_t, b_t) is eliminated: P_t (dv, db) = -(g_t + N_t[:, w] dw_0), P_t = N_t +
// diag(lambda, rho). What is left for w_0 is 1 + sum_t S_t with S_t = N_ww - N_w' P_t^-1 N_w = lambda -
// lambda^2 [P_t^-1]_ww, the form with the smaller cancellation being taken.
bool NewtonSystem::factor_features() {
  const TubeProblem& p = rows_.problem();
  const Index d = as_index(p.features());
  gram_ = task_grams();
  own_.assign(p.tasks(), {});
  ColMatrix shared = ColMatrix::Identity(d, d);
  if (p.tasks() == 1 && !std::isfinite(p.lambda[0])) {  // one plane: no need to eliminate the bias
    ColMatrix whole = gram_[0];
    whole.diagonal().head(d).array() += 1;
    whole(d, d) += bias_weight_[0];
    return shared_.factor(std::move(whole));
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    const ColMatrix& n = gram_[t];
    const double lambda = p.lambda[t];
    if (!std::isfinite(lambda)) {
      const double bias = n(d, d) + bias_weight_[as_index(t)];
      if (!(bias > 0)) return false;
      shared += n.topLeftCorner(d, d);
      shared.noalias() -= n.col(d).head(d) * n.col(d).head(d).transpose() / bias;
      continue;
    }
    ColMatrix block = n;
    block.diagonal().head(d).array() += lambda;
    block(d, d) += bias_weight_[as_index(t)];
    if (!own_[t].factor(std::move(block))) return false;
    if (lambda * static_cast<double>(d) < n.diagonal().head(d).sum()) {
      shared.noalias() -= lambda * lambda * own_[t].inverse().topLeftCorner(d, d);
      shared.diagonal().array() += lambda;
    } else {
      ColMatrix solved = n.leftCols(d);
      own_[t].solve_in_place(solved);
      shared += n.topLeftCorner(d, d);
      shared.noalias() -= n.leftCols(d).transpose() * solved;
    }
  }
  return shared_.factor(std::move(shared));
}

TubePlanes NewtonSystem::solve_features(const TubePlanes& g) const {
  const TubeProblem& p = rows_.problem();
  const std::size_t tasks = p.tasks();
  const Index d = as_index(p.features());
  TubePlanes step;
  step.own.assign(tasks, Vector::Zero(d));
  step.bias.assign(tasks, 0);
  if (tasks == 1 && !std::isfinite(p.lambda[0])) {
    Vector whole(d + 1);
    whole << -g.shared, -g.bias[0];
    shared_.solve_in_place(whole);
    step.shared = whole.head(d);
    step.bias[0] = whole[d];
    return step;
  }
  std::vector<Vector> own(tasks);  // P_t^-1 (g_v, g_b)
  Vector right = -g.shared;
  for (std::size_t t = 0; t < tasks; ++t) {
    if (!std::isfinite(p.lambda[t])) {
      right += gram_[t].col(d).head(d) * (g.bias[t] / (gram_[t](d, d) + bias_weight_[as_index(t)]));
      continue;
    }
    own[t].resize(d + 1);
    own[t] << g.own[t], g.bias[t];
    own_[t].solve_in_place(own[t]);
    right += gram_[t].leftCols(d).transpose() * own[t];
  }
  shared_.solve_in_place(right);
  step.shared = right;
  for (std::size_t t = 0; t < tasks; ++t) {
    if (!std::isfinite(p.lambda[t])) {
      step.bias[t] = -(g.bias[t] + gram_[t].col(d).head(d).dot(step.shared)) /
                     (gram_[t](d, d) + bias_weight_[as_index(t)]);
      continue;
    }
    Vector y(d + 1);
    y << g.own[t], g.bias[t];
    y.noalias() += gram_[t].leftCols(d) * step.shared;
    own_[t].solve_in_place(y);
    step.own[t] = -y.head(d);
    step.bias[t] = -y[d];
  }
  return step;
}

}  // namespace bagwise::internal
