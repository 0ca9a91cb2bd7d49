#include "bagwise/solver/internal/newton_system.h"

#include <algorithm>
#include <cmath>

#include "bagwise/core/parallel.h"
#include "bagwise/solver/internal/blocks.h"
#include "bagwise/solver/internal/side_products.h"

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;

using Array = Eigen::ArrayXd;

Index as_index(std::size_t n) { return static_cast<Index>(n); }

// Joins what `add(k, above, below, part)` says of every row k, with the weights of its sides, in their order.
template <class Add>
std::vector<Side> collect_sides(const TubeProblem& p, const Array& weight, unsigned threads, const Add& add) {
  const Index n = as_index(p.size());
  const auto parts = parts_of_blocks(p.size(), threads, std::vector<Side>(),
                                     [&](std::size_t from, std::size_t to, std::vector<Side>& part) {
                                       for (std::size_t k = from; k < to; ++k)
                                         add(k, weight[as_index(k)], weight[n + as_index(k)], part);
                                     });
  std::vector<Side> out;
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

// Every row once: D1 (a + s u)(a + s u)' + D2 (a - s' u)(a - s' u)' is D (a + m u)(a + m u)' + rest u u' with
// D = D1 + D2, the mean m of the two shifts, and what `rest_of_row` says.
std::vector<Side> weighted_rows(const TubeProblem& p, const Array& weight, unsigned threads) {
  return collect_sides(p, weight, threads, [&](std::size_t k, double above, double below, auto& part) {
    const double both = above + below;
    if (!(both > 0)) return;
    const double mean = p.shifted() ? (above * p.shift_above[k] - below * p.shift_below[k]) / both : 0.0;
    part.push_back({static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(p.task_of(k)), 1, mean, both});
  });
}
double rest_of_row(const TubeProblem& p, std::size_t k, double above, double below) {
  if (!(above > 0) || !(below > 0)) return 0;
  const double apart = p.shift_above[k] + p.shift_below[k];
  return above * (below / (above + below)) * apart * apart;
}

// Every side of a row that its sign alone does not tell from the other.
std::vector<Side> weighted_sides(const TubeProblem& p, const Array& weight, unsigned threads) {
  return collect_sides(p, weight, threads, [&](std::size_t k, double above, double below, auto& part) {
    const auto row = static_cast<std::uint32_t>(k), task = static_cast<std::uint32_t>(p.task_of(k));
    if (above > 0) part.push_back({row, task, 1, p.shift_above[k], above});
    if (below > 0) part.push_back({row, task, -1, p.shift_below[k], below});
  });
}

}  // namespace

bool NewtonSystem::rows_are_cheaper(std::size_t rows, std::size_t sides) const {
  if (road_ != Road::kAutomatic) return road_ == Road::kRows;
  const double m = static_cast<double>(sides), d = static_cast<double>(rows_.problem().features());
  const double tasks = static_cast<double>(rows_.problem().tasks());
  // Multiplications: a Gram matrix and a factor on either road; an inverse per task on the second.
  const double by_rows = m * m * d / 2 + m * m * m / 6;
  const double by_features =
      static_cast<double>(rows) * d * d / 2 + d * d * d / 6 + (tasks > 1 ? tasks * d * d * d / 2 : 0);
  return by_rows < by_features;
}

bool NewtonSystem::factor(const Array& weight, const Array& bias_weight) {
  const TubeProblem& p = rows_.problem();
  weight_ = weight;
  bias_weight_ = bias_weight;
  sides_ = weighted_rows(p, weight, rows_.threads());
  std::size_t sides = sides_.size();
  if (p.shifted()) sides = static_cast<std::size_t>((weight > 0).count());
  by_rows_ = rows_are_cheaper(sides_.size(), sides);
  if (!by_rows_) return factor_features();
  if (p.shifted()) sides_ = weighted_sides(p, weight, rows_.threads());
  return factor_rows();
}

NewtonSystem::Step NewtonSystem::solve(const TubePlanes& gradient, const Array& offset) const {
  if (by_rows_) {
    RowStep step = solve_rows(gradient, &offset);
    Array products = side_products(rows_, step.x);
    return {std::move(step.x), std::move(products), side_reactions(step.reaction, offset)};
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
  step.x = by_rows_ ? solve_rows(gradient, nullptr).x : solve_features(gradient);
  step.products = side_products(rows_, step.x);
  return step;
}

// Road 1. The step is -R''^-1 (g + A' h) for reactions h with (K + 1/D) h = offset + E db - A R''^-1 g.
bool NewtonSystem::factor_rows() {
  const TubeProblem& p = rows_.problem();
  const std::size_t m = sides_.size(), d = p.features();
  gathered_.resize(m * d);
  rows_.gather(sides_, /*scaled=*/false, /*extra=*/0, gathered_.data());
  ColMatrix k = ColMatrix::Zero(as_index(m), as_index(m));
  add_row_gram(gathered_.data(), m, d, k);
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
  bias_columns_ = e;
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
  for (std::size_t j = 0; j < m; ++j) {
    const Index above = as_index(sides_[j].row), below = n + above;
    double k = 0;
    if (offset != nullptr) {
      k = (*offset)[sides_[j].sign > 0 ? above : below];
      if (!p.shifted()) k = (weight_[above] * k - weight_[below] * (*offset)[below]) / sides_[j].weight;
    }
    c[as_index(j)] = a.row(as_index(j)).dot(seen[sides_[j].task]) - k;
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

Array NewtonSystem::side_reactions(const Vector& h, const Array& offset) const {
  const TubeProblem& p = rows_.problem();
  const Index n = as_index(p.size());
  Array reaction = Array::Zero(2 * n);
  for (std::size_t j = 0; j < sides_.size(); ++j) {
    const Index above = as_index(sides_[j].row), below = n + above;
    const double hj = h[as_index(j)];
    if (p.shifted()) {
      reaction[sides_[j].sign > 0 ? above : below] = hj;
      continue;
    }
    // h is the reaction above less that below; each side's own share follows without cancellation.
    const double share = weight_[above] / sides_[j].weight;
    const double both = share * weight_[below] * (offset[above] + offset[below]);
    reaction[above] = share * hj + both;
    reaction[below] = both - (1 - share) * hj;
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
  if (rows_.problem().shifted()) add_rest(out);
  for (auto& n : out) n.triangularView<Eigen::StrictlyUpper>() = n.transpose();
  return out;
}

// What the two shifts of a row leave beside their mean: a multiple of u u' per task.
void NewtonSystem::add_rest(std::vector<ColMatrix>& grams) const {
  const TubeProblem& p = rows_.problem();
  const Index n = as_index(p.size()), d = as_index(p.features());
  std::vector<double> rest(p.tasks(), 0.0);
  for (const Side& side : sides_) {
    rest[side.task] += rest_of_row(p, side.row, weight_[side.row], weight_[n + side.row]);
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    if (rest[t] > 0)
      grams[t].topLeftCorner(d, d).selfadjointView<Eigen::Lower>().rankUpdate(p.direction[t], rest[t]);
  }
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
