#include "bagwise/methods/scaling.h"

#include <fmt/format.h>

#include <cmath>

namespace bagwise {

Result<Scaling> fit_scaling(Scale scale, const FeatureMoments& moments, std::span<const std::string> names) {
  if (scale == Scale::kNone) return Scaling{};
  if (moments.rows == 0 || moments.sum.size() != names.size()) {
    return Error{"scaling needs the moments of the features, which were not reduced with the sums"};
  }
  Scaling out;
  out.kind = scale == Scale::kStandard ? "standard" : "maxabs";
  for (std::size_t j = 0; j < names.size(); ++j) {
    double shift = 0, size = moments.largest[j];
    if (scale == Scale::kStandard) {
      shift = moments.mean(j);
      const double variance = moments.variance(j);
      if (!std::isfinite(variance)) {
        return Error{
            fmt::format("feature \"{}\" reaches {}, too large to be squared; give it a smaller unit or "
                        "use scale maxabs",
                        names[j], moments.largest[j])};
      }
      // A constant feature: what is left of the variance is the rounding of the sums.
      size = variance > 1e-28 * shift * shift ? std::sqrt(variance) : 0;
    }
    out.shift.push_back(shift);
    out.factor.push_back(size > 0 && std::isfinite(1 / size) ? 1 / size : 1);
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

}  // namespace bagwise
