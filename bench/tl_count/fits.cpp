#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "bagwise/core/timing.h"
#include "bagwise/linalg/dense_copy.h"
#include "bagwise/methods/tl_count/tl_count.h"
#include "bagwise/methods/tl_llp/tl_llp.h"
#include "support/best_of.h"
#include "support/generated_bags.h"
#include "tl_count/parts.h"

namespace bagwise::bench {
namespace {

struct Tasks {
  std::vector<BaggedData> data;
  std::vector<TrainingTask> tasks;
};
Tasks make_tasks(GeneratorKind kind, std::size_t bag_size) {
  GeneratedData made = timed_data(kind);
  Rng rng(1);
  Tasks out;
  out.data.push_back(in_bags(std::move(made.source), bag_size, rng));
  out.data.push_back(in_bags(std::move(made.target), bag_size, rng));
  for (std::size_t t = 0; t < 2; ++t)
    out.tasks.push_back({t == 0 ? "source" : "target", reduce(out.data[t]), &out.data[t]});
  return out;
}

// F from the model by plain loops: the probabilities of all counts of a bag, row by row.
double objective(const Tasks& tasks, const TlCountOptions& o, const Model& model) {
  long double sum = 0;
  for (const double w : model.shared_weights) sum += static_cast<long double>(w) * w / 2;
  for (std::size_t t = 0; t < 2; ++t) {
    const TaskModel& plane = model.tasks[t];
    for (std::size_t j = 0; j < plane.weights.size(); ++j) {
      const long double own = plane.weights[j] - model.shared_weights[j];
      sum += (t == 0 ? o.lambdas_of_sources()[0] : o.lambda) * own * own / 2;
    }
    const BaggedData& data = tasks.data[t];
    const DenseRows rows = dense_copy(data.features.view());
    std::vector<std::vector<long double>> chance(data.bags.size(), {1});
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      long double f = plane.bias;
      for (std::size_t j = 0; j < rows.columns(); ++j)
        f += static_cast<long double>(plane.weights[j]) * rows(i, j);
      const long double q = 1 / (1 + std::exp(-f));
      auto& counts = chance[data.bag_of_row[i]];
      counts.push_back(0);
      for (std::size_t c = counts.size(); c-- > 0;)
        counts[c] = counts[c] * (1 - q) + (c > 0 ? counts[c - 1] * q : 0);
    }
    for (std::size_t k = 0; k < chance.size(); ++k) {
      const auto n = std::lround(data.bags.proportions[k] * static_cast<double>(chance[k].size() - 1));
      sum -= (t == 0 ? o.costs_of_sources()[0] : o.C) * std::log(chance[k][static_cast<std::size_t>(n)]);
    }
  }
  return static_cast<double>(sum);
}

struct Timed {
  Fit fit;
  double seconds = 0;
};
template <class Run>
Timed timed(const Run& run) {
  const Stopwatch watch;
  auto fit = run();
  if (!fit) std::abort();
  return {std::move(*fit), watch.seconds()};
}

}  // namespace

void against_tl_llp() {
  fmt::print(
      "One fit of tl-count beside one of TL-LLP, both with their defaults, 2,000 + 640 instances x 200 "
      "features.\n"
      "above: what steps without end still gain, per bag; wrong where F is not that of plain loops. off: "
      "TL-LLP "
      "without uncertainty,\na single convex solve.\n\n");
  fmt::print("{:<10}{:>5} |{:>9}{:>7}{:>10} |{:>11}{:>8} |{:>8}{:>8}\n", "data", "size", "ours ms", "steps",
             "above", "TL-LLP ms", "ratio", "off ms", "ratio");
  for (const auto kind : {GeneratorKind::kGaussian, GeneratorKind::kDocuments}) {
    for (const std::size_t size : {8, 2, 32}) {
      const Tasks made = make_tasks(kind, size);
      const TlCountOptions options;
      const auto ours =
          best_of(30, [&] { return timed([&] { return fit_tl_count(made.tasks, options, {}); }); });
      const TlLlpOptions certain{.uncertainty = Uncertainty::kOff};
      const auto off =
          best_of(30, [&] { return timed([&] { return fit_tl_llp(made.tasks, certain, {}); }); });
      const auto other = best_of(30, [&] { return timed([&] { return fit_tl_llp(made.tasks, {}, {}); }); });
      TlCountOptions fine = options;
      fine.tolerance = 1e-12;
      fine.max_steps = 5000;
      const auto end = timed([&] { return fit_tl_count(made.tasks, fine, {}); });
      const Model& model = ours.fit.model;
      const double value = model.training.objective;
      double cost = 0;
      for (std::size_t t = 0; t < 2; ++t)
        cost += (t == 0 ? options.costs_of_sources()[0] : options.C) *
                static_cast<double>(made.data[t].bags.size());
      const bool wrong = std::abs(objective(made, options, model) / value - 1) > 1e-9;
      fmt::print("{:<10}{:>5} |{:>9.2f}{:>7}{:>10.1e} |{:>11.2f}{:>7.2f}x |{:>8.2f}{:>7.2f}x{}\n",
                 kind == GeneratorKind::kGaussian ? "gaussian" : "documents", size, 1e3 * ours.seconds,
                 model.training.rounds, (value - end.fit.model.training.objective) / cost,
                 1e3 * other.seconds, ours.seconds / other.seconds, 1e3 * off.seconds,
                 ours.seconds / off.seconds, wrong ? "  WRONG" : "");
      std::fflush(stdout);
    }
  }
}

}  // namespace bagwise::bench
