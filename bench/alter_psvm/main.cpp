// alter-pSVM's alternation beside the same alternation with LIBSVM's and LIBLINEAR's machines.
//
// Same rows, same random labels to start from, same rounds; the objective of all is the stated one, computed
// by the same code. usage: bench_alter_psvm [many|large]
//   many    20 problems of 400 rows and 50 features
//   large   gaussian and documents, 2,000 rows and 200 features: minutes of LIBSVM each
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "alter_psvm/machines.h"
#include "bagwise/core/timing.h"
#include "bagwise/methods/alter_psvm/alter_psvm.h"
#include "bagwise/methods/alter_psvm/runner.h"
#include "bagwise/methods/alter_psvm/starts.h"
#include "support/generated_bags.h"

namespace {

using namespace bagwise;
using namespace bagwise::bench;
using alter_psvm::Answer;

struct Timed {
  Answer answer;
  double seconds = 0;
};

BaggedData make(GeneratorKind kind, std::size_t rows, std::size_t features, std::size_t bag_size,
                std::uint64_t seed) {
  GeneratorOptions options;
  options.kind = kind;
  options.source_rows = rows;
  options.features = features;
  options.target_rows = options.test_rows = 2;
  options.seed = seed;
  Rng rng(seed);
  return in_bags(generated(options).source, bag_size, rng);
}

Timed alternated(const alter_psvm::Problem& problem, std::unique_ptr<Svm> machine, const Labels& start) {
  const Stopwatch watch;
  Watched watched;
  Timed out;
  out.answer = alternate(problem, *machine, {start}, {}, watched);
  out.seconds = watch.seconds();
  return out;
}

void compare(int problems, std::size_t rows_wanted, std::size_t features) {
  fmt::print("{} rows, {} features, one random start, one thread; objectives relative to LIBSVM's\n\n",
             rows_wanted, features);
  fmt::print("{:<10}{:>5}{:>6}{:>6} |{:>9}{:>8}{:>9} |{:>9}{:>9} |{:>9}{:>9} |{:>9}{:>9}\n", "data", "bags",
             "C", "C_p", "ours s", "solves", "F", "reheat s", "F", "svm s", "ratio", "linear s", "F");
  int not_higher = 0, same_not_higher = 0;
  double least_ratio = 1e300, least_reheated = 1e300, log_ratio = 0;
  for (int n = 0; n < problems; ++n) {
    const auto kind = n % 2 == 0 ? GeneratorKind::kGaussian : GeneratorKind::kDocuments;
    const auto pair = static_cast<std::size_t>(n) / 2;
    constexpr std::size_t kSizes[] = {8, 2, 32, 16, 64};
    constexpr double kCosts[] = {1, 0.25, 0.1, 8};
    const std::size_t size = kSizes[pair % 5];
    const double C = kCosts[pair % 4], C_p = 10 * C;
    const BaggedData data = make(kind, rows_wanted, features, size, pair + 1);
    const GroupedRows rows = group_rows(data, {});
    const alter_psvm::Problem problem{rows.bag_start, rows.proportions(), C, C_p, 0};
    Rng rng(1, static_cast<std::uint64_t>(n));
    const Labels start = alter_psvm::random_labels(rows, rng);
    const RowsView view = rows.rows();

    const Timed ours = alternated(problem, make_linear_svm(view, 1), start);
    const Stopwatch watch;
    const alter_psvm::Runner runner(problem, {}, [&] { return make_linear_svm(view, 1); }, 1, {});
    const Answer reheated = alter_psvm::reheat(runner, ours.answer);
    const double with_reheating = ours.seconds + watch.seconds();
    const Timed linear = alternated(problem, make_liblinear(view), start);
    const Timed svm = alternated(problem, make_libsvm(view), start);
    const auto above = [&](const Answer& a) { return 100 * (a.objective / svm.answer.objective - 1); };
    const double ratio = svm.seconds / ours.seconds;
    fmt::print(
        "{:<10}{:>5}{:>6g}{:>6g} |{:>9.3f}{:>8}{:>+8.2f}% |{:>9.3f}{:>+8.2f}% |{:>9.2f}{:>8.1f}x "
        "|{:>9.3f}{:>+8.2f}%\n",
        kind == GeneratorKind::kGaussian ? "gaussian" : "documents", size, C, C_p, ours.seconds,
        ours.answer.machines, above(ours.answer), with_reheating, above(reheated), svm.seconds, ratio,
        linear.seconds, above(linear.answer));
    std::fflush(stdout);
    not_higher += above(reheated) <= 0.1 ? 1 : 0;
    same_not_higher += above(ours.answer) <= 0.1 ? 1 : 0;
    least_ratio = std::min(least_ratio, ratio);
    least_reheated = std::min(least_reheated, svm.seconds / with_reheating);
    log_ratio += std::log(ratio) / problems;
  }
  fmt::print(
      "\nnot higher than LIBSVM's by more than 0.1 %: {} of {}, {} with reheating\n"
      "faster: {:.0f}x in the geometric mean, at least {:.1f}x; with reheating at least {:.1f}x\n\n",
      same_not_higher, problems, not_higher, std::exp(log_ratio), least_ratio, least_reheated);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view part = argc > 1 ? argv[1] : "all";
  if (part == "all" || part == "many") compare(20, 400, 50);
  if (part == "all" || part == "large") compare(2, 2000, 200);
  return 0;
}
