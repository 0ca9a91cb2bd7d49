#include "bagwise/evaluate/diagnosis_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>

#include "bagwise/bags/rows_by_bag.h"
#include "bagwise/core/watched.h"
#include "bagwise/evaluate/bag_resampling.h"
#include "bagwise/evaluate/poisson_binomial.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/plane_weights.h"
#include "bagwise/methods/scorer.h"

namespace bagwise {
namespace {

constexpr std::size_t kDrawsOfMeans = 1000;  // of means of numbers that are there: cheap

// Fits the model's own method, with its options, to other bags of the same tasks.
class Refitter {
 public:
  Refitter(const Model& model, std::span<const TrainingTask> tasks)
      : method_(find_method(model.method)),
        tasks_(tasks),
        seed_(model.training.seed),
        committee_(model.committee.has_value()) {
    for (const auto& [name, value] : model.options) options_[name] = to_text(value);
    const auto chosen = [&](const char* name) {
      const auto found = options_.find(name);
      return found != options_.end() && found->second != "none";
    };
    // What is fitted to all rows beforehand (a scaling, a metric) is fitted anew, too.
    rows_ = method_ != nullptr && (method_->needs_instances(options_) || chosen("scale") || chosen("metric"));
  }

  // Why nothing can be fitted; empty: it can.
  [[nodiscard]] std::string fault() const {
    if (committee_) return "the model averages fits of several settings, which are not fitted again";
    if (method_ == nullptr) return "the model's method is not one of this program";
    if (auto checked = method_->check(options_); !checked) return checked.error().message;
    return "";
  }

  // `bags` are those of each task; none: all of them.
  [[nodiscard]] Result<Fit> fit(const std::vector<std::optional<std::vector<std::uint32_t>>>& bags,
                                const Watched& watched) const {
    std::vector<BaggedData> storage(tasks_.size());
    std::vector<TrainingTask> drawn;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      TrainingTask task;
      task.name = tasks_[t].name;
      task.origin = tasks_[t].origin;
      if (!bags[t]) {
        task = tasks_[t];
      } else if (rows_) {
        storage[t] = pick_bags(*tasks_[t].rows, *bags[t]);
        task.reduced = reduce(storage[t], 1);
        task.rows = &storage[t];
      } else {
        task.reduced = pick_bags(tasks_[t].reduced, *bags[t]);
      }
      drawn.push_back(std::move(task));
    }
    return method_->fit(drawn, options_, {.seed = seed_, .threads = 1, .observer = watched.inside()});
  }

 private:
  const Method* method_;
  std::span<const TrainingTask> tasks_;
  std::uint64_t seed_;
  bool committee_;
  OptionTexts options_;
  bool rows_ = false;
};

std::vector<double> probabilities_of(const Scorer& scorer, std::span<const double> scores) {
  std::vector<double> out;
  out.reserve(scores.size());
  for (const double f : scores) out.push_back(scorer.probability(f));
  return out;
}

// What the fits without a part of the bags say of that part's rows.
struct HeldOutRows {
  std::vector<double> scores, probabilities;
  std::vector<double>
      levelled;  // scores less the level at which the fit calls as many rows positive as the model
};

// The level that `positives` of the scores are above.
double level_of(std::vector<double> scores, std::size_t positives) {
  if (positives == 0 || positives >= scores.size()) return 0;
  std::sort(scores.begin(), scores.end(), std::greater<>());
  return (scores[positives - 1] + scores[positives]) / 2;
}

// A fit without bags of many positives expects fewer of them everywhere, and calls fewer rows of just these
// bags positive; over all parts that looks like a plane turned the wrong way (on 13 bags of 64 rows it took
// 0.18 off the accuracy). So every fit is levelled: it calls as many of all rows positive as the model does,
// which takes no proportion of the bags left out.
Result<HeldOutRows> leave_bags_out(const Refitter& refit, const BaggedData& data, std::size_t tasks,
                                   std::span<const std::uint32_t> fold_of_bag, std::size_t folds,
                                   std::size_t positives, const ModelDiagnosisOptions& options,
                                   const Observer& observer) {
  const std::vector<double> none(data.bag_of_row.size(), 0.0);
  HeldOutRows out{none, none, none};
  std::vector<std::optional<Error>> errors(folds);
  std::atomic<bool> stopped{false};
  watched_for(folds, options.threads, "folds", folds, observer, [&](std::size_t fold, Watched& watched) {
    const auto number = static_cast<std::uint32_t>(fold);
    if (watched.stop) {
      stopped = true;
      return;
    }
    std::vector<std::optional<std::vector<std::uint32_t>>> bags(tasks);
    bags.back() = bags_outside(fold_of_bag, number);
    const auto fit = refit.fit(bags, watched);
    if (watched.stop) stopped = true;
    if (!fit) {
      errors[fold] = fit.error();
      return;
    }
    const Scorer scorer(fit->model, fit->model.tasks.size() - 1);
    const auto f = finite_scores(scorer, data.features.view(), 1);
    if (!f) {
      errors[fold] = f.error();
      return;
    }
    const double level = level_of(*f, positives);
    for (std::size_t i = 0; i < f->size(); ++i) {
      if (fold_of_bag[data.bag_of_row[i]] != number) continue;
      out.scores[i] = (*f)[i];
      out.levelled[i] = (*f)[i] - level;
      out.probabilities[i] = scorer.probability((*f)[i]);
    }
    ++watched.steps;
  });
  if (stopped) return stopped_error();
  for (const auto& error : errors) {
    if (error) return *error;
  }
  return out;
}

std::vector<double> errors_of(std::span<const BagFit> bags) {
  std::vector<double> out;
  for (const BagFit& bag : bags) out.push_back(std::abs(bag.shares.hard - bag.shares.known));
  return out;
}

HeldOutDiagnosis judge_held_out(const BaggedData& data, const HeldOutRows& rows, std::size_t folds,
                                Rng& rng) {
  HeldOutDiagnosis out;
  out.folds = folds;
  const auto bags = fit_by_bag(data, rows.scores, rows.probabilities);
  out.proportion_error = bootstrap_mean(errors_of(bags), kDrawsOfMeans, rng);
  std::vector<CountedBag> counted;
  for (const BagFit& bag : bags)
    counted.push_back({bag.shares.rows, bag.shares.known * static_cast<double>(bag.shares.rows), 0});
  for (std::size_t i = 0; i < rows.levelled.size(); ++i)
    counted[data.bag_of_row[i]].predicted += rows.levelled[i] > 0 ? 1 : 0;
  out.accuracy = estimate_bag_accuracy(counted, kConfidence);
  CompensatedSum confidence;
  for (const double q : rows.probabilities) confidence.add(std::max(q, 1 - q));
  out.mean_confidence =
      confidence.value() / static_cast<double>(std::max<std::size_t>(1, rows.probabilities.size()));
  return out;
}

Result<BootstrapDiagnosis> draw_weights(const Refitter& refit, const Model& model,
                                        std::span<const TrainingTask> tasks,
                                        const ModelDiagnosisOptions& options, const Observer& observer) {
  const std::size_t target = model.tasks.size() - 1;
  const Plane plane = raw_plane(model, target);
  const std::vector<std::size_t> features = largest_weights(plane, kMostWeights);
  std::vector<std::vector<double>> drawn(options.draws);
  std::atomic<bool> stopped{false};
  watched_for(options.draws, options.threads, "bootstrap", options.draws, observer,
              [&](std::size_t draw, Watched& watched) {
                if (watched.stop) {
                  stopped = true;
                  return;
                }
                Rng rng(options.seed, 1000 + draw);
                std::vector<std::optional<std::vector<std::uint32_t>>> bags(tasks.size());
                for (std::size_t t = 0; t < tasks.size(); ++t)
                  bags[t] = bootstrap_bags(tasks[t].reduced.bags.size(), rng);
                const auto fit = refit.fit(bags, watched);
                if (watched.stop) stopped = true;
                ++watched.steps;
                if (!fit) return;  // bags that cannot be learnt from, say all of one proportion
                const Plane other = raw_plane(fit->model, target);
                for (const std::size_t j : features)
                  drawn[draw].push_back(other.weights[static_cast<Eigen::Index>(j)]);
              });
  if (stopped) return stopped_error();
  BootstrapDiagnosis out;
  out.draws = options.draws;
  for (const auto& one : drawn) out.failed += one.empty() ? 1 : 0;
  if (features.empty()) out.failed = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const double weight = plane.weights[static_cast<Eigen::Index>(features[i])];
    std::vector<double> values;
    double other = 0;
    for (const auto& one : drawn) {
      if (one.empty()) continue;
      values.push_back(one[i]);
      other += one[i] * weight > 0 ? 0 : 1;
    }
    const double fitted = static_cast<double>(std::max<std::size_t>(1, values.size()));
    out.weights.push_back({model.features[features[i]], weight,
                           central_interval(std::move(values), kConfidence), other / fitted});
  }
  return out;
}

void sum_up(const BaggedData& data, std::span<const double> scores, std::span<const double> probabilities,
            ModelDiagnosis& out) {
  CompensatedSum positives, probability;
  double held = 0;
  for (const BagFit& bag : out.bags) {
    positives.add(static_cast<double>(bag.shares.rows) * bag.shares.known);
    held += bag.interval.holds(bag.shares.known) ? 1 : 0;
  }
  const auto n = static_cast<double>(std::max<std::size_t>(1, data.bag_of_row.size()));
  for (const double q : probabilities) probability.add(q);
  out.known_share = positives.value() / n;
  out.predicted_share =
      static_cast<double>(std::ranges::count_if(scores, [](double f) { return f > 0; })) / n;
  out.mean_probability = probability.value() / n;
  out.held = held / static_cast<double>(std::max<std::size_t>(1, out.bags.size()));
}

}  // namespace

std::vector<BagFit> fit_by_bag(const BaggedData& data, std::span<const double> scores,
                               std::span<const double> probabilities) {
  assert(scores.size() == data.bag_of_row.size() && probabilities.size() == scores.size());
  const RowsByBag by_bag(data.bag_of_row, data.bags.size());
  std::vector<BagFit> out(data.bags.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto rows = by_bag.of(k);
    const auto size = static_cast<double>(std::max<std::size_t>(1, rows.size()));
    std::vector<double> q;
    double positives = 0;
    for (const std::size_t i : rows) {
      q.push_back(probabilities[i]);
      positives += scores[i] > 0 ? 1 : 0;
    }
    const PoissonBinomial count(q);
    const auto [low, high] = count.interval(kConfidence);
    out[k].shares = {data.bags.names[k], rows.size(), data.bags.proportions[k], positives / size,
                     count.mean() / size};
    out[k].interval = {static_cast<double>(low) / size, static_cast<double>(high) / size};
    out[k].p_value = count.two_sided(data.bags.proportions[k] * size);
  }
  // Holm: the i-th smallest of n p-values (i from 0) counts n - i times, and no later one less.
  std::vector<std::size_t> order(out.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return out[a].p_value < out[b].p_value; });
  double so_far = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    BagFit& bag = out[order[i]];
    so_far = std::max(so_far, std::min(1.0, bag.p_value * static_cast<double>(order.size() - i)));
    bag.adjusted = so_far;
    bag.fits = so_far > 1 - kConfidence;
  }
  return out;
}

Estimate bootstrap_mean(std::span<const double> values, std::size_t draws, Rng& rng) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  std::vector<double> means(draws, 0.0);
  for (double& mean : means) {
    for (std::size_t i = 0; i < values.size(); ++i) mean += values[rng.below(values.size())];
    mean /= n;
  }
  CompensatedSum sum;
  for (const double v : values) sum.add(v);
  return {sum.value() / n, central_interval(std::move(means), kConfidence)};
}

bool may_be_of(const Model& model, std::size_t tasks) {
  const auto& starts = model.training.starts;
  const bool from_tl_llp =
      std::ranges::any_of(starts, [](const StartReport& start) { return start.init == "tl-llp"; });
  if (!from_tl_llp) return model.tasks.size() == tasks;
  // Beside random starts tl-llp's is there only if there are sources; asked for, it may have none.
  const bool asked =
      std::ranges::all_of(starts, [](const StartReport& start) { return start.init == "tl-llp"; });
  return asked || tasks > 1;
}

Result<ModelDiagnosis> diagnose_model(const Model& model, std::span<const TrainingTask> tasks,
                                      const ModelDiagnosisOptions& options, const Observer& observer) {
  assert(!tasks.empty() && tasks.back().rows != nullptr);
  if (!may_be_of(model, tasks.size())) {
    return Error{fmt::format("the model has {} tasks and the data {}; expected the tasks it was trained on",
                             model.tasks.size(), tasks.size())};
  }
  const BaggedData& data = *tasks.back().rows;
  if (data.feature_names != model.features) {
    return Error{
        fmt::format("the data has {} features that are not the {} of the model, or in another "
                    "order; expected the data, with the options, that it was trained on",
                    data.feature_names.size(), model.features.size())};
  }
  ModelDiagnosis out;
  out.method = model.method;
  out.task = model.tasks.back().name;
  const Scorer scorer(model, model.tasks.size() - 1);
  const auto f = finite_scores(scorer, data.features.view(), options.threads);
  if (!f) return Error{f.error().message, tasks.back().origin};
  const auto probabilities = probabilities_of(scorer, *f);
  out.bags = fit_by_bag(data, *f, probabilities);
  sum_up(data, *f, probabilities, out);
  Rng rng(options.seed, 3);
  out.proportion_error = bootstrap_mean(errors_of(out.bags), kDrawsOfMeans, rng);

  const Refitter refit(model, tasks);
  if (const std::string fault = refit.fault(); !fault.empty()) {
    out.remarks.push_back(fmt::format("no fits to other bags: {}", fault));
    return out;
  }
  const std::size_t folds = std::min(options.folds, out.bags.size());
  if (folds >= 2 && out.bags.size() >= 3) {
    const auto fold_of_bag = stratified_folds(data.bags.proportions, folds, rng);
    auto rows =
        leave_bags_out(refit, data, tasks.size(), fold_of_bag, folds,
                       static_cast<std::size_t>(std::ranges::count_if(*f, [](double v) { return v > 0; })),
                       options, observer);
    if (rows) {
      out.held_out = judge_held_out(data, *rows, folds, rng);
    } else if (rows.error().message == stopped_error().message) {
      return rows.error();
    } else {
      out.remarks.push_back(fmt::format("no bags could be left out: {}", rows.error().message));
    }
  }
  if (options.draws > 0 && model.expansion) {
    out.remarks.emplace_back("a kernel model has no weights of features, so there are no intervals of them");
  } else if (options.draws > 0) {
    auto drawn = draw_weights(refit, model, tasks, options, observer);
    if (!drawn) return drawn.error();
    out.bootstrap = std::move(*drawn);
  }
  return out;
}

}  // namespace bagwise
