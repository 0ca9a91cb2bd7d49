#include "bagwise/methods/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/bags/feature_moments.h"

namespace bagwise {
namespace {

Features scaled_part(const Scaling& scaling, const DenseView& rows, std::size_t from, std::size_t count) {
  DenseRows out(rows.columns);
  std::copy_n(rows.values + from * rows.columns, count * rows.columns, out.append(count));
  apply(scaling, out);
  return out;
}

Features scaled_part(const Scaling& scaling, const CsrView& rows, std::size_t from, std::size_t count) {
  const auto begin = static_cast<std::size_t>(rows.start[from]);
  const auto end = static_cast<std::size_t>(rows.start[from + count]);
  const bool shifted =
      std::any_of(scaling.shift.begin(), scaling.shift.end(), [](double s) { return s != 0; });
  if (shifted) {
    DenseRows out(count, rows.columns);
    for (std::size_t i = 0; i < count; ++i) {
      for (auto k = static_cast<std::size_t>(rows.start[from + i]);
           k < static_cast<std::size_t>(rows.start[from + i + 1]); ++k) {
        out(i, static_cast<std::size_t>(rows.index[k])) = rows.values[k];
      }
    }
    apply(scaling, out);
    return out;
  }
  Csr out;
  out.columns = rows.columns;
  for (std::size_t i = 0; i < count; ++i) out.start.push_back(rows.start[from + i + 1] - rows.start[from]);
  out.index.assign(rows.index.begin() + rows.start[from], rows.index.begin() + rows.start[from + count]);
  for (std::size_t k = begin; k < end; ++k) {
    const double factor =
        scaling.factor.empty() ? 1.0 : scaling.factor[static_cast<std::size_t>(rows.index[k])];
    out.values.push_back(rows.values[k] * factor);
  }
  return out;
}

}  // namespace

Result<Scaling> fit_scaling(Scale scale, const FeatureMoments& moments, std::span<const std::string> names,
                            const Scaling* fitted) {
  if (fitted != nullptr) return *fitted;
  if (scale == Scale::kNone) return Scaling{};
  if (moments.rows == 0 || moments.sum.size() != names.size()) {
    return Error{
        "scaling needs the moments of the features; means of bags have none, nor have sums without them"};
  }
  Scaling out;
  out.kind = scale == Scale::kStandard ? "standard" : "maxabs";
  constexpr double kSmall = 1e-140;  // squares of smaller numbers have few digits, or none
  for (std::size_t j = 0; j < names.size(); ++j) {
    double shift = 0, size = moments.largest[j];
    if (size > 0 && (scale == Scale::kStandard ? size < kSmall : !std::isfinite(1 / size))) {
      return Error{
          fmt::format("feature \"{}\" is nowhere above {:.3g}, too small to be scaled; multiply it by a "
                      "power of ten beforehand, or leave it out",
                      names[j], size)};
    }
    if (scale == Scale::kStandard) {
      shift = moments.mean(j);
      const double variance = moments.variance(j);
      if (!std::isfinite(variance)) {
        return Error{
            fmt::format("feature \"{}\" reaches {:.3g}, too large to be squared; divide it by a power of ten "
                        "beforehand, or use scale maxabs",
                        names[j], moments.largest[j])};
      }
      // A constant feature: what is left of the variance is the rounding of the sums.
      size = variance > 1e-28 * shift * shift ? std::sqrt(variance) : 0;
    }
    out.shift.push_back(shift);
    out.factor.push_back(size > 0 ? 1 / size : 1);
  }
  return out;
}

void apply(const Scaling& scaling, DenseRows& rows) {
  if (scaling.factor.empty()) return;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < rows.columns(); ++j)
      rows(i, j) = (rows(i, j) - scaling.shift[j]) * scaling.factor[j];
  }
}

Features scaled_rows(const Scaling& scaling, const RowsView& rows, std::size_t from, std::size_t count) {
  assert(from + count <= row_count(rows));
  return std::visit([&](const auto& view) { return scaled_part(scaling, view, from, count); }, rows);
}

}  // namespace bagwise
