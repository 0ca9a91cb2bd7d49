#include "bagwise/bags/put_noise.h"

#include <cassert>

#include "bagwise/core/portable_math.h"

namespace bagwise {

void put_normal_noise(ProportionTable& table, double deviation, Rng& rng) {
  for (auto& [name, known] : table.bags) {
    known.proportion += deviation * rng.normal();
    known.stderror = deviation;
  }
}

void put_private_noise(ProportionTable& table, double epsilon_dp, Rng& rng) {
  for (auto& [name, known] : table.bags) {
    assert(known.size);
    const bool up = rng.below(2) == 0;
    const double size = -portable_log(1 - rng.uniform()) / epsilon_dp;  // exponential: half of Laplace
    known.proportion += (up ? size : -size) / static_cast<double>(*known.size);
    known.epsilon_dp = epsilon_dp;
  }
}

}  // namespace bagwise
