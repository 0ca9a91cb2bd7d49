#include "bagwise/methods/kernel_shifts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/bags/rows_by_bag.h"
#include "bagwise/core/memory_budget.h"

namespace bagwise {
namespace {

constexpr int kMostPasses = 8;          // evaluations of f per bag in a search
constexpr double kNearEnough = 1e-3;    // of the residual to begin with: the search ends
constexpr double kNearCentre = 0.1;     // of the tube: likewise
constexpr double kLeastFall = 1e-9;     // of a slack, to be told from rounding
constexpr double kExpectedShare = 0.5;  // of the fall the slope promised: the full shift is taken as it is

Eigen::Index as_index(std::size_t n) { return static_cast<Eigen::Index>(n); }

void copy_row(const DenseView& from, std::size_t i, double* to) {
  std::copy_n(from.row(i).data(), from.columns, to);
}
void copy_row(const CsrView& from, std::size_t i, double* to) {
  std::fill_n(to, from.columns, 0.0);
  for (auto k = static_cast<std::size_t>(from.start[i]); k < static_cast<std::size_t>(from.start[i + 1]); ++k)
    to[from.index[k]] = from.values[k];
}
void copy_row(const RowsView& from, std::size_t i, double* to) {
  std::visit([&](const auto& rows) { copy_row(rows, i, to); }, from);
}

Observer watching(const KernelSum& f) { return f.observer == nullptr ? Observer() : *f.observer; }

// f(x) without its bias.
Vector values_at(const KernelSum& f, const RowsView& rows, unsigned threads) {
  const RowMatrix weights = Eigen::Map<const RowMatrix>(f.weights.data(), as_index(f.weights.size()), 1);
  return kernel_expansion(f.kernel, f.rows, weights, rows, threads, watching(f)).col(0);
}

// S S u / |S u| in each row, 0 where there is no direction; returns |S u|.
Vector to_directions(RowMatrix& gradients, std::span<const double> stretch) {
  const auto scale = [&](Eigen::Index i) {
    for (std::size_t c = 0; c < stretch.size(); ++c) gradients(i, as_index(c)) *= stretch[c];
  };
  Vector lengths(gradients.rows());
  for (Eigen::Index i = 0; i < gradients.rows(); ++i) {
    scale(i);
    lengths[i] = gradients.row(i).stableNorm();
    if (lengths[i] > 0 && std::isfinite(lengths[i])) {
      gradients.row(i) /= lengths[i];
      scale(i);
    } else {
      gradients.row(i).setZero();
    }
  }
  return lengths;
}

// The search of one bag for the theta where g(theta) = sign(r(0)) r(theta) is nearest to 0; g(0) > 0.
//
// g is known at 0 with its slope, and then wherever it was asked for. It begins with Newton's theta, goes on
// by the secant while g stays above 0, and by regula falsi (Illinois) once a theta with g <= 0 is known.
class Search {
 public:
  Search(std::size_t bag, double residual, double slope, double tube)
      : bag_(bag),
        sign_(residual < 0 ? -1 : 1),
        at_zero_(std::abs(residual)),
        slope_(slope),
        enough_(std::max(kNearEnough * at_zero_, kNearCentre * tube)),
        g_low_(at_zero_),
        best_g_(at_zero_) {
    done_ = !(slope_ > 0) || !(at_zero_ > 0);
    if (!done_) next_ = std::min(1.0, at_zero_ / slope_);
  }

  [[nodiscard]] std::size_t bag() const { return bag_; }
  [[nodiscard]] double sign() const { return sign_; }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] double next() const { return next_; }  // the theta to ask for
  [[nodiscard]] double theta() const { return best_; }
  [[nodiscard]] double residual() const { return sign_ * best_g_; }

  // The residual at next().
  void tell(double residual) {
    const double g = sign_ * residual, theta = next_;
    if (std::abs(g) < std::abs(best_g_)) best_ = theta, best_g_ = g;
    if (!std::isfinite(g) || std::abs(g) <= enough_) {
      done_ = true;
    } else if (bracketed_ || g <= 0) {
      narrow(theta, g);
    } else {
      reach(theta, g);
    }
  }

 private:
  // The root lies between low_ (g > 0) and high_ (g <= 0).
  void narrow(double theta, double g) {
    if (g > 0) {
      low_ = theta, g_low_ = g;
      if (side_ > 0) g_high_ /= 2;
      side_ = 1;
    } else {
      high_ = theta, g_high_ = g;
      if (side_ < 0 && bracketed_) g_low_ /= 2;
      side_ = bracketed_ ? -1 : 0;
      bracketed_ = true;
    }
    next_ = low_ + (high_ - low_) * g_low_ / (g_low_ - g_high_);
    if (!(next_ > low_ && next_ < high_)) next_ = low_ + 0.5 * (high_ - low_);
  }

  // g was above 0 wherever it was asked for.
  void reach(double theta, double g) {
    if (theta == 1) {
      done_ = low_ > 0 || g <= at_zero_ - kExpectedShare * slope_;
      next_ = 0.5;  // g may have dipped on the way
      if (!done_) low_ = 0, g_low_ = at_zero_, probed_ = true;
      return;
    }
    if (probed_ || !(g < g_low_)) {
      done_ = true;
      return;
    }
    next_ = std::min(1.0, theta + 1.1 * (theta - low_) * g / (g_low_ - g));
    low_ = theta, g_low_ = g;
    if (!(next_ > theta)) done_ = true;
  }

  std::size_t bag_;
  double sign_, at_zero_, slope_, enough_;
  double low_ = 0, g_low_, high_ = 1, g_high_ = 0;
  bool bracketed_ = false, probed_ = false, done_ = false;
  int side_ = 0;  // which end moved last, while bracketed
  double next_ = 0, best_ = 0, best_g_;
};

// The rows of some bags, one bag after the other, as they were observed, with the directions they would move
// in.
class Candidates {
 public:
  Candidates(const KernelSum& f, const UncertainRows& data, const RowsByBag& order,
             std::span<const std::size_t> bags, unsigned threads)
      : f_(f),
        data_(data),
        order_(order),
        threads_(threads),
        first_(order.bags(), 0),
        observed_(column_count(data.observed)) {
    for (const std::size_t k : bags) {
      first_[k] = observed_.rows();
      for (const std::size_t j : order.of(k)) copy_row(data.observed, j, observed_.append(1));
    }
    directions_ = kernel_gradients(f.kernel, f.rows, f.weights, observed_.view(), threads, watching(f));
    lengths_ = to_directions(directions_, data.stretch);
  }

  // -g'(0): how fast the residual of a bag falls at first.
  [[nodiscard]] double slope(std::size_t bag) const {
    double sum = 0;
    std::size_t place = first_[bag];
    for (const std::size_t j : order_.of(bag)) sum += data_.bounds[j] * lengths_[as_index(place++)];
    return sum / static_cast<double>(order_.size(bag));
  }

  // Writes the rows of a bag, moved by theta against the sign, one after the other.
  void write(std::size_t bag, double theta, double sign,
             const std::function<double*(std::size_t)>& to) const {
    std::size_t place = first_[bag];
    for (const std::size_t j : order_.of(bag)) {
      const double step = sign * theta * data_.bounds[j];
      const auto x = observed_.row(place);
      double* const out = to(j);
      for (std::size_t c = 0; c < x.size(); ++c)
        out[c] = x[c] - step * directions_(as_index(place), as_index(c));
      ++place;
    }
  }

  // The residuals of the bags at the thetas their searches ask for.
  [[nodiscard]] std::vector<double> residuals(const std::vector<Search*>& searches) const {
    DenseRows rows(observed_.columns());
    for (const Search* search : searches)
      write(search->bag(), search->next(), search->sign(), [&](std::size_t) { return rows.append(1); });
    const Vector values = values_at(f_, rows.view(), threads_);
    std::vector<double> out;
    Eigen::Index place = 0;
    for (const Search* search : searches) {
      const auto size = as_index(order_.size(search->bag()));
      out.push_back(values.segment(place, size).mean() + f_.bias - data_.target[search->bag()]);
      place += size;
    }
    return out;
  }

 private:
  const KernelSum& f_;
  const UncertainRows& data_;
  const RowsByBag& order_;
  unsigned threads_;
  std::vector<std::size_t> first_;  // of a bag's rows
  DenseRows observed_;
  RowMatrix directions_;
  Vector lengths_;
};

double slack(double residual, double tube) { return std::max(0.0, std::abs(residual) - tube); }

// Sets r(0) for the bags that stand moved; of the others it is the residual they have.
std::vector<double> residuals_unmoved(const KernelSum& f, const UncertainRows& data, const RowsByBag& order,
                                      const MovedRows& present, std::span<const std::size_t> bags,
                                      unsigned threads) {
  std::vector<double> out = present.residual;
  DenseRows rows(column_count(data.observed));
  for (const std::size_t k : bags) {
    if (present.theta[k] == 0) continue;
    for (const std::size_t j : order.of(k)) copy_row(data.observed, j, rows.append(1));
  }
  const Vector values = values_at(f, rows.view(), threads);
  Eigen::Index place = 0;
  for (const std::size_t k : bags) {
    if (present.theta[k] == 0) continue;
    const auto size = as_index(order.size(k));
    out[k] = values.segment(place, size).mean() + f.bias - data.target[k];
    place += size;
  }
  return out;
}

void check([[maybe_unused]] const KernelSum& f, [[maybe_unused]] const UncertainRows& data,
           [[maybe_unused]] const MovedRows& present) {
  assert(f.weights.size() == row_count(f.rows) && column_count(f.rows) == column_count(data.observed));
  assert(data.bag_of_row.size() == row_count(data.observed) && data.bounds.size() == data.bag_of_row.size());
  assert(data.target.size() == data.tube.size() && present.theta.size() == data.target.size());
  assert(present.rows.rows() == row_count(data.observed));
}

}  // namespace

Result<MovedRows> unmoved_rows(const UncertainRows& data) {
  const std::size_t rows = row_count(data.observed), columns = column_count(data.observed);
  if (columns > 0 && rows > kMostMovedValues / columns) {
    return Error{
        fmt::format("{} rows of {} features move when bounds are above 0, and no longer fit in memory; "
                    "expected at most {} values",
                    rows, columns, kMostMovedValues)};
  }
  if (auto fits = check_matrix("rows that may move", static_cast<double>(rows), static_cast<double>(columns),
                               "set the bounds to 0 (delta), or take fewer rows or features");
      !fits)
    return fits.error();
  MovedRows out{DenseRows(columns), std::vector<double>(data.target.size(), 0.0), {}, 0};
  double* to = out.rows.append(rows);
  for (std::size_t i = 0; i < rows; ++i) copy_row(data.observed, i, to + i * columns);
  return out;
}

std::vector<double> bag_residuals(const KernelSum& f, const UncertainRows& data, const RowsView& rows,
                                  unsigned threads) {
  const Vector values = values_at(f, rows, threads);
  std::vector<double> sum(data.target.size(), 0.0), size(data.target.size(), 0.0);
  for (std::size_t i = 0; i < data.bag_of_row.size(); ++i) {
    sum[data.bag_of_row[i]] += values[as_index(i)];
    size[data.bag_of_row[i]] += 1;
  }
  for (std::size_t k = 0; k < sum.size(); ++k)
    sum[k] = size[k] == 0 ? 0.0 : sum[k] / size[k] + f.bias - data.target[k];
  return sum;
}

MovedRows move_exact(const KernelSum& f, const UncertainRows& data, MovedRows present, unsigned threads) {
  check(f, data, present);
  const RowsByBag order(data.bag_of_row, data.target.size());
  present.residual = bag_residuals(f, data, present.rows.view(), threads);
  present.bags_moved = 0;
  std::vector<std::size_t> outside;
  for (std::size_t k = 0; k < order.bags(); ++k) {
    if (order.size(k) > 0 && slack(present.residual[k], data.tube[k]) > 0) outside.push_back(k);
  }
  const Candidates candidates(f, data, order, outside, threads);
  const auto at_zero = residuals_unmoved(f, data, order, present, outside, threads);
  std::vector<Search> searches;
  for (const std::size_t k : outside) searches.emplace_back(k, at_zero[k], candidates.slope(k), data.tube[k]);

  for (int pass = 0; pass < kMostPasses; ++pass) {
    std::vector<Search*> open;
    for (Search& search : searches)
      if (!search.done()) open.push_back(&search);
    if (open.empty()) break;
    const auto residuals = candidates.residuals(open);
    for (std::size_t s = 0; s < open.size(); ++s) open[s]->tell(residuals[s]);
  }

  for (const Search& search : searches) {
    const std::size_t k = search.bag();
    const double before = slack(present.residual[k], data.tube[k]);
    if (!(slack(search.residual(), data.tube[k]) < before * (1 - kLeastFall))) continue;
    candidates.write(k, search.theta(), search.sign(),
                     [&](std::size_t j) { return present.rows.row(j).data(); });
    present.theta[k] = search.theta();
    present.residual[k] = search.residual();
    ++present.bags_moved;
  }
  return present;
}

MovedRows move_literal(const KernelSum& f, const UncertainRows& data, MovedRows present, unsigned threads) {
  check(f, data, present);
  const Vector values = values_at(f, data.observed, threads);
  RowMatrix directions = kernel_gradients(f.kernel, f.rows, f.weights, data.observed, threads, watching(f));
  to_directions(directions, data.stretch);
  std::vector<double> moved(data.target.size(), 0.0), size(data.target.size(), 0.0);
  for (std::size_t j = 0; j < data.bag_of_row.size(); ++j) {
    const std::size_t k = data.bag_of_row[j];
    const double excess = values[as_index(j)] + f.bias - data.target[k];
    const double step = excess > data.tube[k] ? -data.bounds[j] : excess < -data.tube[k] ? data.bounds[j] : 0;
    const auto to = present.rows.row(j);
    copy_row(data.observed, j, to.data());
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += step * directions(as_index(j), as_index(c));
    moved[k] += step != 0 ? 1 : 0;
    size[k] += 1;
  }
  present.bags_moved = 0;
  for (std::size_t k = 0; k < moved.size(); ++k) {
    present.theta[k] = size[k] == 0 ? 0.0 : moved[k] / size[k];
    present.bags_moved += moved[k] > 0 ? 1 : 0;
  }
  present.residual = bag_residuals(f, data, present.rows.view(), threads);
  return present;
}

}  // namespace bagwise
