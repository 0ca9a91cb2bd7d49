// MeanMap beside two textbook optimisers: the objectives first, then the times.
//
// A run whose objective is above the lowest by more than 1e-8 of it is shown as wrong, not as fast.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "bagwise/core/parallel.h"
#include "bagwise/core/random.h"
#include "mean_map/task.h"

namespace {

using namespace bagwise;
using namespace bagwise::bench;

void against_textbooks() {
  fmt::print("2,000 x 200, bags of 8, to a relative gradient norm of 1e-8; 'ours' is the whole fit\n");
  fmt::print("'above' = objective over the lowest of the three, relative\n\n");
  fmt::print("{:<10}{:>8}{:>14} |{:>9}{:>9}{:>7}{:>8} |{:>10}{:>9}{:>7} |{:>10}{:>9}{:>8}\n", "data",
             "lambda", "objective", "ours ms", "above", "steps", "passes", "newton ms", "above", "steps",
             "lbfgs ms", "above", "passes");
  for (const auto kind : {GeneratorKind::kGaussian, GeneratorKind::kDocuments}) {
    const Task task = make_task(kind, 2000, 8);
    for (const double lambda : {0.1, 1.0, 10.0, 100.0}) {
      const Answer ours = best_of(20, [&] { return fit_ours(task, lambda); });
      const Answer counted = solve_ours(task.problem(lambda));
      const Answer newton = best_of(3, [&] { return solve_newton(task, lambda); });
      const Answer lbfgs = best_of(3, [&] { return solve_lbfgs(task, lambda); });
      const double a = objective(task, lambda, ours.weights), b = objective(task, lambda, newton.weights);
      const double c = objective(task, lambda, lbfgs.weights), lowest = std::min({a, b, c});
      const auto above = [&](double value) { return (value - lowest) / std::abs(lowest); };
      fmt::print(
          "{:<10}{:>8g}{:>14.6f} |{:>9.2f}{:>9.0e}{:>7}{:>8} |{:>10.1f}{:>9.0e}{:>7} "
          "|{:>10.1f}{:>9.0e}{:>8}{}\n",
          kind == GeneratorKind::kGaussian ? "gaussian" : "documents", lambda, a, 1e3 * ours.seconds,
          above(a), counted.steps, std::lround(counted.passes), 1e3 * newton.seconds, above(b), newton.steps,
          1e3 * lbfgs.seconds, above(c), std::lround(lbfgs.passes), above(a) > 1e-8 ? "  WRONG" : "");
      std::fflush(stdout);
    }
  }
}

// Rows from two classes a little apart, c that of labels one in ten of which is wrong.
void scaling() {
  fmt::print("\nlarge tables, one thread and all cores\n\n");
  fmt::print("{:<26} |{:>10}{:>10} |{:>7}{:>8}\n", "rows", "1 ms", "all ms", "steps", "passes");
  const auto report = [](const char* what, const LogCoshProblem& problem) {
    const Answer one = solve_ours(problem, 1), all = solve_ours(problem, 0);
    fmt::print("{:<26} |{:>10.0f}{:>10.0f} |{:>7}{:>8}{}\n", what, 1e3 * one.seconds, 1e3 * all.seconds,
               all.steps, std::lround(all.passes), one.weights == all.weights ? "" : "  DIFFERENT BITS");
    std::fflush(stdout);
  };
  {
    constexpr std::size_t kRows = 1000000, kColumns = 50, kBlock = 10000;
    DenseRows rows(kRows, kColumns);
    std::vector<Vector> sums(kRows / kBlock, Vector::Zero(kColumns + 1));
    parallel_for(kRows / kBlock, 0, [&](std::size_t block) {
      Rng rng(1, block);
      for (std::size_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
        const double y = rng.uniform() < 0.5 ? 1 : -1, told = rng.uniform() < 0.1 ? -y : y;
        for (std::size_t j = 0; j < kColumns; ++j) {
          rows(i, j) = 0.2 * y + rng.normal();
          sums[block][static_cast<Eigen::Index>(j)] += told * rows(i, j);
        }
        sums[block][kColumns] += told;
      }
    });
    Vector linear = Vector::Zero(kColumns + 1);
    for (const Vector& sum : sums) linear += sum;
    report("1,000,000 x 50 dense", {rows.view(), linear, 1});
  }
  {
    constexpr std::size_t kRows = 200000, kColumns = 20000, kEntries = 40;
    Rng rng(2);
    Csr rows;
    rows.columns = kColumns;
    Vector linear = Vector::Zero(kColumns + 1);
    for (std::size_t i = 0; i < kRows; ++i) {
      const double y = rng.uniform() < 0.5 ? 1 : -1;
      std::vector<std::int32_t> words;
      for (std::size_t k = 0; k < kEntries; ++k) {  // frequent words first; odd ones lean to one class
        const double u = rng.uniform();
        auto word = static_cast<std::int32_t>(u * u * u * kColumns);
        if (rng.uniform() < 0.3 && (word % 2 == 1) != (y > 0)) word ^= 1;
        words.push_back(std::min(word, static_cast<std::int32_t>(kColumns - 1)));
      }
      std::ranges::sort(words);
      words.erase(std::ranges::unique(words).begin(), words.end());
      for (const std::int32_t word : words) {
        rows.index.push_back(word);
        rows.values.push_back(1 / std::sqrt(static_cast<double>(words.size())));
        linear[word] += y * rows.values.back();
      }
      linear[kColumns] += y;
      rows.start.push_back(static_cast<std::int64_t>(rows.values.size()));
    }
    report("200,000 x 20,000 sparse", {rows.view(), linear, 1});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view part = argc > 1 ? argv[1] : "all";
  if (part == "all" || part == "textbooks") against_textbooks();
  if (part == "all" || part == "scaling") scaling();
  return 0;
}
