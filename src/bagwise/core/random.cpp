#include "bagwise/core/random.h"

#include <bit>
#include <cassert>
#include <cmath>

namespace bagwise {
namespace {

std::uint64_t splitmix64(std::uint64_t& x) {
  x += 0x9e3779b97f4a7c15U;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// Horner's rule, coefficients from the highest power down.
template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = 0;
  for (double c : coefficients) sum = sum * x + c;
  return sum;
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (auto& s : state_) s = splitmix64(seed);
}

Rng::Rng(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t mixed = seed;
  std::uint64_t x = splitmix64(mixed) ^ (index * 0xd1342543de82ef95U + 0x2545f4914f6cdd1dU);
  for (auto& s : state_) s = splitmix64(x);
}

Rng::result_type Rng::operator()() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::below(std::uint64_t bound) {
  assert(bound > 0);
  // Lemire (2019): the high word of a 128-bit product, rejecting the few that would favour small values.
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>((*this)()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {  // seldom: only then is the division needed
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>((*this)()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Rng::normal() {
  // The midpoint of one of 2^52 equal cells: never 0 or 1.
  const double p = (static_cast<double>((*this)() >> 12) + 0.5) * 0x1.0p-52;
  return normal_quantile(p);
}

double normal_quantile(double p) {
  assert(p > 0 && p < 1);
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    static constexpr std::array kA = {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
                                      45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
                                      133.14166789178437745, 3.387132872796366608};
    static constexpr std::array kB = {
        5226.495278852854561,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
        5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0};
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  double z = 0;
  if (r <= 5) {
    static constexpr std::array kC = {
        7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
        3.64784832476320460504,   5.7694972214606914055,    4.6303378461565452959,  1.42343711074968357734};
    static constexpr std::array kD = {
        1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
        0.68976733498510000455,    1.6763848301838038494,   2.05319162663775882187,   1.0};
    r -= 1.6;
    z = polynomial(kC, r) / polynomial(kD, r);
  } else {
    static constexpr std::array kE = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                      0.0012426609473880784386,  0.026532189526576123093,
                                      0.29656057182850489123,    1.7848265399172913358,
                                      5.4637849111641143699,     6.6579046435011037772};
    static constexpr std::array kF = {2.04426310338993978564e-15, 1.4215117583164458887e-7,
                                      1.8463183175100546818e-5,   7.868691311456132591e-4,
                                      0.0148753612908506148525,   0.13692988092273580531,
                                      0.59983220655588793769,     1.0};
    r -= 5;
    z = polynomial(kE, r) / polynomial(kF, r);
  }
  return q < 0 ? -z : z;
}

}  // namespace bagwise
