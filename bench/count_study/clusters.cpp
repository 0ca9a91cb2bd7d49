#include "clusters.h"

#include <fmt/format.h>
#include <cmath>

namespace bagwise::bench {
namespace {

// Clusters at +-kShift with deviation 1: the sign is right with probability Phi(kShift) = 0.9.
constexpr double kShift = 1.2815515655446004;
// A cloud of the same variance about 0: with probability Phi(kSlope x) of the positive class, the sign is
// right with probability 1/2 + atan(kSlope deviation)/pi, which is 0.9 at tan(0.4 pi).
const double kDeviation = std::sqrt(1 + kShift * kShift);
const double kSlope = std::tan(0.4 * 3.14159265358979323846) / kDeviation;

double phi(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

}  // namespace

Dataset clustered_rows(Clusters clusters, bool white, std::size_t rows, std::size_t features, Rng& rng) {
  Dataset out;
  DenseRows values(rows, features);
  for (std::size_t j = 0; j < features; ++j) out.feature_names.push_back(fmt::format("x{}", j + 1));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < features; ++j) values(i, j) = rng.normal();
    const double side = rng.uniform() < 0.5 ? -1 : 1, other = rng.uniform() < 0.5 ? -1 : 1;
    // The first two features have the larger variance whether or not there are clusters along them.
    values(i, 0) = clusters == Clusters::kClasses ? values(i, 0) + kShift * side : kDeviation * values(i, 0);
    values(i, 1) = clusters == Clusters::kAcross ? values(i, 1) + kShift * other : kDeviation * values(i, 1);
    const bool positive =
        clusters == Clusters::kClasses ? side > 0 : rng.uniform() < phi(kSlope * values(i, 0));
    for (std::size_t j = 0; white && j < 2; ++j) values(i, j) /= kDeviation;
    out.labels.push_back(positive ? 1 : -1);
  }
  out.features = std::move(values);
  return out;
}

}  // namespace bagwise::bench
