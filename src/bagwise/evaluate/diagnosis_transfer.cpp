#include "bagwise/evaluate/diagnosis_transfer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/evaluate/bag_resampling.h"
#include "bagwise/linalg/blas.h"
#include "bagwise/methods/mean_map/mean_map.h"
#include "bagwise/methods/model.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {
namespace {

constexpr std::size_t kRowsOfEnergy = 400;  // of each task
constexpr std::size_t kPermutations = 499;
constexpr std::size_t kDraws = 200;

FeatureMoments pooled(const FeatureMoments& a, const FeatureMoments& b) {
  FeatureMoments out = a;
  out.merge(b);
  return out;
}

// 1/deviation over both tasks about their own means; 0 for features that are constant in each.
std::vector<double> standard_units(const FeatureMoments& a, const FeatureMoments& b) {
  std::vector<double> out(a.sum.size(), 0.0);
  const auto m = static_cast<double>(a.rows), n = static_cast<double>(b.rows);
  for (std::size_t j = 0; j < out.size(); ++j) {
    const double variance = (m * a.variance(j) + n * b.variance(j)) / (m + n);
    if (variance > 0 && std::isfinite(variance)) out[j] = 1 / std::sqrt(variance);
  }
  return out;
}

void measure_shifts(const ReducedBags& source, const ReducedBags& target, std::span<const double> units,
                    TransferDiagnosis& out) {
  constexpr std::size_t kShown = 5;
  double squares = 0, counted = 0;
  for (std::size_t j = 0; j < units.size(); ++j) {
    if (units[j] == 0) continue;
    const double shift = (source.moments.mean(j) - target.moments.mean(j)) * units[j];
    out.shifts.push_back({target.feature_names[j], shift});
    squares += shift * shift;
    counted += 1;
  }
  if (counted > 0) out.mean_shift = std::sqrt(squares / counted);
  std::stable_sort(out.shifts.begin(), out.shifts.end(), [](const FeatureShift& a, const FeatureShift& b) {
    return std::abs(a.shift) > std::abs(b.shift);
  });
  out.shifts.resize(std::min(kShown, out.shifts.size()));
}

// Some rows, in the given units, as dense ones: those of least mark, so that the order of the rows does not
// matter.
RowMatrix sample_rows(const RowsView& rows, std::span<const double> units, Rng& rng) {
  const std::vector<RowMark> marks = row_marks(rows);
  const std::uint64_t salt = rng();
  std::vector<std::size_t> order(marks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    const auto key = [&](std::size_t i) { return std::pair(marks[i].first ^ salt, marks[i].second); };
    return key(x) < key(y);
  });
  order.resize(std::min(order.size(), kRowsOfEnergy));
  const Features some = take_rows(rows, order);
  RowMatrix out =
      RowMatrix::Zero(static_cast<Eigen::Index>(order.size()), static_cast<Eigen::Index>(column_count(rows)));
  const RowsView view = some.view();
  if (const auto* dense = std::get_if<DenseView>(&view)) {
    out = dense->matrix();
  } else {
    const auto& sparse = std::get<CsrView>(view);
    for (std::size_t i = 0; i < sparse.rows; ++i) {
      for (auto e = static_cast<std::size_t>(sparse.start[i]);
           e < static_cast<std::size_t>(sparse.start[i + 1]); ++e)
        out(static_cast<Eigen::Index>(i), sparse.index[e]) = sparse.values[e];
    }
  }
  for (Eigen::Index j = 0; j < out.cols(); ++j) out.col(j) *= units[static_cast<std::size_t>(j)];
  return out;
}

// The coefficients with which bag means add up to mu_+ - mu_-, for bags that count `times` each.
void difference_weights(const ReducedBags& data, std::span<const double> times, double* out) {
  const std::size_t bags = data.bags.size();
  double rows = 0, positives = 0, spread = 0;
  for (std::size_t k = 0; k < bags; ++k) {
    const double size = times[k] * static_cast<double>(data.sums.count(k));
    rows += size;
    positives += size * data.bags.proportions[k];
  }
  for (std::size_t k = 0; k < bags; ++k) {
    const double off = data.bags.proportions[k] - positives / rows;
    out[k] = times[k] * static_cast<double>(data.sums.count(k)) * off;
    spread += out[k] * off;
  }
  for (std::size_t k = 0; k < bags; ++k) out[k] = spread > 0 ? out[k] / spread : 0;
}

// Class-mean differences in the given units: that of the data first, then one per bootstrap over bags.
RowMatrix drawn_differences(const ReducedBags& data, std::span<const double> units, std::size_t draws,
                            Rng& rng) {
  const std::size_t bags = data.bags.size(), features = units.size();
  RowMatrix weights(static_cast<Eigen::Index>(draws + 1), static_cast<Eigen::Index>(bags));
  std::vector<double> times(bags, 1.0);
  difference_weights(data, times, weights.data());
  for (std::size_t b = 1; b <= draws; ++b) {
    std::fill(times.begin(), times.end(), 0.0);
    for (std::size_t k = 0; k < bags; ++k) times[rng.below(bags)] += 1;
    difference_weights(data, times, weights.row(static_cast<Eigen::Index>(b)).data());
  }
  DenseRows means = data.sums.means();
  for (std::size_t j = 0; j < features; ++j) {
    const double middle = means.rows() > 0 ? means(0, j) : 0;  // weights add up to 0: any will do
    for (std::size_t k = 0; k < bags; ++k) means(k, j) = (means(k, j) - middle) * units[j];
  }
  RowMatrix out(weights.rows(), static_cast<Eigen::Index>(features));
  const SerialBlas serial;
  dense_product(weights.data(), draws + 1, means.view().values, features, bags, out.data());
  return out;
}

// The square of the true length, cleaned of noise: the mean square of the draws about the estimate is what
// noise adds to it.
double clean_square(const RowMatrix& differences) {
  const Eigen::Index draws = differences.rows() - 1;
  double noise = 0;
  for (Eigen::Index b = 1; b <= draws; ++b)
    noise += (differences.row(b) - differences.row(0)).squaredNorm() / static_cast<double>(draws);
  return differences.row(0).squaredNorm() - noise;
}

}  // namespace

std::string_view to_text(TransferVerdict verdict) {
  switch (verdict) {
    case TransferVerdict::kHelps:
      return "likely to help";
    case TransferVerdict::kHurts:
      return "likely to hurt";
    case TransferVerdict::kUnclear:
      break;
  }
  return "unclear";
}

EnergyTest energy_test(const RowsView& a, const RowsView& b, std::span<const double> units, Rng& rng) {
  const RowMatrix first = sample_rows(a, units, rng), second = sample_rows(b, units, rng);
  const Eigen::Index m = first.rows(), n = second.rows(), all = m + n;
  EnergyTest out;
  out.rows = static_cast<std::size_t>(all);
  if (m == 0 || n == 0) return out;
  RowMatrix rows(all, first.cols());
  rows << first, second;
  rows.rowwise() -= rows.colwise().mean().eval();  // nearer to 0, so that squares lose no digits
  const SerialBlas serial;
  RowMatrix distance(all, all);
  dense_product_transposed(rows.data(), static_cast<std::size_t>(all), rows.data(),
                           static_cast<std::size_t>(all), static_cast<std::size_t>(rows.cols()),
                           distance.data());
  const Vector squares = distance.diagonal();
  for (Eigen::Index i = 0; i < all; ++i) {
    for (Eigen::Index j = 0; j < all; ++j)
      distance(i, j) = i == j ? 0 : std::sqrt(std::max(0.0, squares[i] + squares[j] - 2 * distance(i, j)));
  }
  // With s_i = 1/m on the first sample and -1/n on the second, -s'Ds = 2 E|x-y| - E|x-x'| - E|y-y'|.
  const double total = distance.sum();
  RowMatrix signs(static_cast<Eigen::Index>(kPermutations + 1), all);
  std::vector<std::size_t> order(static_cast<std::size_t>(all));
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (Eigen::Index s = 0; s < signs.rows(); ++s) {
    for (Eigen::Index i = 0; i < all; ++i)
      signs(s, static_cast<Eigen::Index>(order[static_cast<std::size_t>(i)])) =
          i < m ? 1 / static_cast<double>(m) : -1 / static_cast<double>(n);
    shuffle(std::span(order), rng);
  }
  RowMatrix product(signs.rows(), all);
  dense_product(signs.data(), static_cast<std::size_t>(signs.rows()), distance.data(),
                static_cast<std::size_t>(all), static_cast<std::size_t>(all), product.data());
  const Vector energy = -(product.array() * signs.array()).rowwise().sum();
  const double within_first = distance.topLeftCorner(m, m).sum() / static_cast<double>(m * m);
  const double within_second = distance.bottomRightCorner(n, n).sum() / static_cast<double>(n * n);
  const double between = energy[0] + within_first + within_second;  // twice E|x - y|
  if (!(total > 0) || !(between > 0)) return out;
  out.distance = std::clamp(energy[0] / between, 0.0, 1.0);
  const double rounding = 1e-12 * between;
  double as_far = 1;
  for (Eigen::Index s = 1; s < energy.size(); ++s) as_far += energy[s] >= energy[0] - rounding ? 1 : 0;
  out.p_value = as_far / static_cast<double>(kPermutations + 1);
  return out;
}

std::optional<DirectionCosine> direction_cosine(const ReducedBags& a, const ReducedBags& b,
                                                std::span<const double> units, std::size_t draws, Rng& rng) {
  const RowMatrix first = drawn_differences(a, units, draws, rng);
  const RowMatrix second = drawn_differences(b, units, draws, rng);
  const double square = clean_square(first), other = clean_square(second);
  if (!(square > 0) || !(other > 0)) return std::nullopt;
  const double lengths = std::sqrt(square) * std::sqrt(other), product = first.row(0).dot(second.row(0));
  double scatter = 0;
  for (Eigen::Index i = 1; i < first.rows(); ++i) {
    const double off = first.row(i).dot(second.row(i)) - product;
    scatter += off * off / static_cast<double>(draws);
  }
  const double reach = 1.96 * std::sqrt(scatter);
  const auto within = [&](double value) { return std::clamp(value / lengths, -1.0, 1.0); };
  return DirectionCosine{within(product), {within(product - reach), within(product + reach)}};
}

TransferVerdict transfer_verdict(const ClassSignal& own, const ClassSignal& across) {
  // A source that does not know its own classes has nothing to teach.
  if (own.correlation <= own.error) return TransferVerdict::kUnclear;
  const double margin = across.correlation - own.correlation / 2;
  const double error = std::hypot(across.error, own.error / 2);
  if (margin > error) return TransferVerdict::kHelps;
  if (margin < -error) return TransferVerdict::kHurts;
  return TransferVerdict::kUnclear;
}

TransferDiagnosis diagnose_transfer(const std::string& source_name, const BaggedData& source,
                                    const ReducedBags& source_sums, const BaggedData& target,
                                    const ReducedBags& target_sums, const DiagnosisOptions& options) {
  assert(source_sums.feature_names == target_sums.feature_names);
  TransferDiagnosis out;
  out.source = source_name;
  const std::vector<double> standard = standard_units(source_sums.moments, target_sums.moments);
  measure_shifts(source_sums, target_sums, standard, out);
  const RowsView rows = source.features.view(), target_rows = target.features.view();
  Rng rng(options.seed, 2);
  out.energy = energy_test(rows, target_rows, standard, rng);
  out.shared_rows = count_shared_rows(rows, target_rows, options.threads);

  const std::vector<double> units = feature_units(pooled(source_sums.moments, target_sums.moments));
  out.cosine = direction_cosine(source_sums, target_sums, units, kDraws, rng);
  out.own = held_out_signal(source, source_sums, units, options.folds, rng, options.threads);
  if (const Vector direction = class_direction(source_sums, units); direction.size() > 0) {
    out.across = class_signal(scores({direction, 0}, target_rows, options.threads), target.bag_of_row,
                              target_sums.bags.proportions);
  }
  out.verdict = transfer_verdict(out.own, out.across);
  return out;
}

}  // namespace bagwise
