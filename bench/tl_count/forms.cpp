#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <numbers>
#include <vector>

#include "bagwise/core/random.h"
#include "bagwise/solver/bag_count.h"
#include "tl_count/parts.h"

namespace bagwise::bench {
namespace {

struct Bag {
  std::vector<double> f;
  CountSeen seen;
};
struct Form {
  double seconds = 0;  // of the processor
  std::vector<double> nll;
  std::vector<std::vector<double>> slope;
};

// Bags whose scores have this spread; the number seen is one that the scores make likely.
std::vector<Bag> make_bags(std::size_t size, std::size_t count, double spread, Rng& rng) {
  std::vector<Bag> out(count);
  for (Bag& bag : out) {
    const double middle = rng.normal();
    for (std::size_t i = 0; i < size; ++i) {
      bag.f.push_back(middle + spread * rng.normal());
      if (rng.uniform() < 1 / (1 + std::exp(-bag.f.back()))) bag.seen.positives += 1;
    }
  }
  return out;
}

Form evaluate(const std::vector<Bag>& bags, std::size_t exact_up_to) {
  Form best;
  for (int run = 0; run < 3; ++run) {
    Form form;
    form.slope.resize(bags.size());
    for (std::size_t k = 0; k < bags.size(); ++k) form.slope[k].resize(bags[k].f.size());
    BagCount count(exact_up_to);
    const std::clock_t start = std::clock();
    for (std::size_t k = 0; k < bags.size(); ++k) {
      double variance = 0;
      form.nll.push_back(count(bags[k].f, bags[k].seen, form.slope[k], variance));
    }
    form.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (run == 0 || form.seconds < best.seconds) best = std::move(form);
  }
  return best;
}

// nll in long double by the forward sums alone: what the exact form must agree with.
double plain_nll(const Bag& bag) {
  std::vector<long double> chance = {1};
  for (const double z : bag.f) {
    const long double q = 1 / (1 + std::exp(-static_cast<long double>(z)));
    chance.push_back(0);
    for (std::size_t c = chance.size(); c-- > 0;)
      chance[c] = chance[c] * (1 - q) + (c > 0 ? chance[c - 1] * q : 0);
  }
  return static_cast<double>(-std::log(chance[static_cast<std::size_t>(bag.seen.positives)]));
}

}  // namespace

void exact_against_normal(const char* csv) {
  fmt::print(
      "\nThe exact form and the normal one by the size of bags; scores spread by 2 about a middle of their "
      "bag,\nnumbers drawn by them. nll: mean difference but for the constant 1/2 log(2 pi); slopes: root "
      "mean\nsquare of the difference over that of the slopes\n\n");
  fmt::print("{:>6} |{:>10}{:>10}{:>8} |{:>10}{:>10}\n", "size", "exact ns", "normal ns", "ratio", "nll",
             "slopes");
  std::ofstream file;
  if (*csv != '\0') file.open(csv);
  file << "size,exact_ns_per_row,normal_ns_per_row,nll_error,slope_error\n";
  Rng rng(5);
  for (std::size_t size = 8; size <= 4096; size *= 2) {
    const std::size_t count = std::max<std::size_t>(32, 32768 / size);
    const auto bags = make_bags(size, count, 2, rng);
    const Form exact = evaluate(bags, size), normal = evaluate(bags, 0);
    double nll = 0, off = 0, all = 0;
    bool wrong = false;
    for (std::size_t k = 0; k < count; ++k) {
      const double constant = std::log(2 * std::numbers::pi) / 2;
      nll += std::abs(exact.nll[k] - normal.nll[k] - constant) / static_cast<double>(count);
      if (k < 8)
        wrong = wrong || std::abs(exact.nll[k] - plain_nll(bags[k])) > 1e-10 * std::abs(exact.nll[k]);
      for (std::size_t i = 0; i < size; ++i) {
        off += std::pow(exact.slope[k][i] - normal.slope[k][i], 2);
        all += std::pow(exact.slope[k][i], 2);
      }
    }
    const auto rows = static_cast<double>(size * count);
    const double slopes = std::sqrt(off / all);
    fmt::print("{:>6} |{:>10.1f}{:>10.1f}{:>8.1f} |{:>10.1e}{:>10.1e}{}\n", size, 1e9 * exact.seconds / rows,
               1e9 * normal.seconds / rows, exact.seconds / normal.seconds, nll, slopes,
               wrong ? "  WRONG" : "");
    std::fflush(stdout);
    file << fmt::format("{},{},{},{},{}\n", size, 1e9 * exact.seconds / rows, 1e9 * normal.seconds / rows,
                        nll, slopes);
  }
}

}  // namespace bagwise::bench
