#include "bagwise/evaluate/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <mutex>
#include <numeric>

#include "bagwise/bags/deal.h"
#include "bagwise/bags/proportions.h"
#include "bagwise/comm/agree.h"
#include "bagwise/comm/deal_over_ranks.h"
#include "bagwise/comm/packed.h"
#include "bagwise/core/hash.h"
#include "bagwise/core/random.h"
#include "bagwise/core/timing.h"
#include "bagwise/core/watched.h"
#include "bagwise/data/feature_noise.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/evaluate/metrics.h"
#include "bagwise/evaluate/tuning.h"
#include "bagwise/methods/scorer.h"

namespace bagwise {
namespace {

// Streams of random numbers: one per purpose, known by what it is for.
std::uint64_t stream_of(const std::string& data, std::uint64_t bag_size, std::uint64_t fold) {
  return Fnv1a().add(data).add(bag_size).add(fold).value();
}

// The rows of a labelled table that are not `only` (or are), without ids.
Dataset some_rows(const Dataset& all, const std::vector<std::size_t>& rows) {
  Dataset out;
  out.features = take_rows(all.features.view(), rows);
  out.feature_names = all.feature_names;
  for (const std::size_t i : rows) {
    out.labels.push_back(all.labels[i]);
    if (!all.bounds.empty()) out.bounds.push_back(all.bounds[i]);
  }
  return out;
}

Result<BaggedData> in_bags(Dataset rows, std::uint64_t size, const std::string& name, Rng& rng) {
  auto dealt = deal_bags(std::move(rows), size, rng);
  if (!dealt) return dealt.error();
  return attach_proportions(std::move(dealt->instances), name, &dealt->proportions);
}

template <class T>
const T& named(const std::vector<T>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &T::name);
  assert(found != all.end());
  return *found;
}

struct Learnt {
  Model model;
  OptionTexts options;
  double choose = 0, fit = 0;
  std::uint64_t settings = 1;
};

Result<Learnt> learn(const ExperimentMethod& method, std::span<const TrainingTask> tasks,
                     const Context& context) {
  const std::vector<Arm>& arms = tasks.size() > 1 ? method.arms : method.arms_alone;
  Learnt out;
  const auto with_metric = [](OptionTexts setting, const Arm& arm) {
    if (arm.metric != "none") setting["metric"] = arm.metric;
    return setting;
  };
  if (!method.tuned) {
    const Arm& arm = arms[0];
    out.options = with_metric(arm.paths[0][0], arm);
    const Stopwatch watch;
    auto fit = arm.method->fit(tasks_for(*arm.method, out.options, tasks), out.options, context);
    if (!fit) return fit.error();
    out.fit = watch.seconds();
    out.model = std::move(fit->model);
    return out;
  }
  auto tuned = tune(tasks, arms, method.selection, context);
  if (!tuned) return tuned.error();
  const Tried& best = tuned->tried[tuned->best];
  out.options = with_metric(best.setting, arms[best.arm]);
  out.model = std::move(tuned->fit.model);
  out.choose = tuned->choose_seconds;
  out.fit = tuned->final_seconds;
  out.settings = tuned->tried.size();
  return out;
}

// Mean over bags of |share of scores > 0 - known share|.
double proportion_error(std::span<const double> scores, const BaggedData& data) {
  return proportion_metrics(bag_errors(scores, {}, data.bag_of_row, data.bags.proportions)).mean_error;
}

// What came of a cell, for rank 0, which knows its key.
std::string packed(const Result<CellOutcome>& outcome) {
  Packing out;
  if (!outcome) {
    const Error& error = outcome.error();
    return out.count(0).text(error.message).text(error.file).count(error.line).text(error.column).bytes();
  }
  const ExperimentResult& r = outcome->result;
  const ExperimentTimes& t = outcome->times;
  out.count(1).number(r.accuracy).maybe(r.balanced_accuracy).maybe(r.auc).number(r.proportion_error);
  out.number(t.choose).number(t.fit).number(t.total).count(t.settings).count(t.jobs).count(r.options.size());
  for (const auto& [name, text] : r.options) out.text(name).text(text);
  return out.bytes();
}

Result<CellOutcome> unpacked(const std::string& bytes, const ExperimentKey& key) {
  Unpacking in(bytes);
  if (in.count() == 0) {
    Error error;
    error.message = in.text();
    error.file = in.text();
    error.line = in.count();
    error.column = in.text();
    return error;
  }
  CellOutcome out;
  ExperimentResult& r = out.result;
  ExperimentTimes& t = out.times;
  r.key = t.key = key;
  r.accuracy = in.number();
  r.balanced_accuracy = in.maybe();
  r.auc = in.maybe();
  r.proportion_error = in.number();
  t.choose = in.number();
  t.fit = in.number();
  t.total = in.number();
  t.settings = in.count();
  t.jobs = in.count();
  for (std::uint64_t left = in.count(); left > 0; --left) {
    std::string name = in.text();
    r.options[std::move(name)] = in.text();
  }
  return out;
}

}  // namespace

Result<ExperimentBags> deal_cell(const LabelledTasks& rows, const ExperimentPlan& plan,
                                 const ExperimentKey& key) {
  std::vector<std::size_t> order(rows.target.rows()), train, test;
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng of_folds(plan.seed, stream_of(key.data, 0, 0));
  shuffle(std::span(order), of_folds);
  for (std::size_t i = 0; i < order.size(); ++i)
    (i % plan.folds == key.fold ? test : train).push_back(order[i]);
  if (order.size() < plan.folds || train.empty()) {
    return Error{
        fmt::format("data \"{}\" has {} rows in the target; expected at least one per fold, of {} folds",
                    key.data, order.size(), plan.folds)};
  }
  ExperimentBags out;
  out.test = some_rows(rows.target, test);
  Rng rng(plan.seed, stream_of(key.data, key.bag_size, 1 + key.fold));
  auto target = in_bags(some_rows(rows.target, train), key.bag_size, key.data, rng);
  if (!target) return target.error();
  out.target = std::move(*target);
  if (!rows.has_source()) return out;
  std::vector<std::size_t> all(rows.source.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  auto source = in_bags(some_rows(rows.source, all), key.bag_size, key.data, rng);
  if (!source) return source.error();
  out.source = std::move(*source);
  return out;
}

Result<CellOutcome> run_cell(const LabelledTasks& rows, const ExperimentPlan& plan, const ExperimentKey& key,
                             const Observer& observer) {
  const Stopwatch watch;
  const ExperimentMethod& method = named(plan.methods, key.method);
  auto bags = deal_cell(rows, plan, key);
  if (!bags) return bags.error();
  std::vector<TrainingTask> tasks;
  if (bags->source && method.uses_sources)
    tasks.push_back({"source", reduce(*bags->source, 1), &*bags->source});
  tasks.push_back({"target", reduce(bags->target, 1), &bags->target});
  const auto learnt = learn(method, tasks, {.seed = plan.seed, .threads = 1, .observer = observer});
  if (!learnt) return learnt.error();

  const Scorer scorer(learnt->model, learnt->model.tasks.size() - 1);
  const auto scores = finite_scores(scorer, bags->test.features.view(), 1);
  if (!scores) return scores.error();
  std::vector<double> probabilities;
  for (const double f : *scores) probabilities.push_back(scorer.probability(f));
  const LabelMetrics metrics = label_metrics(*scores, probabilities, bags->test.labels);
  CellOutcome out;
  out.result = {key,
                metrics.accuracy,
                metrics.balanced_accuracy,
                metrics.auc,
                proportion_error(scorer.scores(bags->target.features.view(), 1), bags->target),
                learnt->options};
  out.times = {key, learnt->choose, learnt->fit, watch.seconds(), learnt->settings, 1};
  return out;
}

Result<void> run_experiment(const ExperimentPlan& plan, std::span<const LabelledTasks> rows,
                            std::span<const ExperimentKey> wanted, unsigned jobs, const ExperimentSink& sink,
                            const Observer& observer, Communicator* ranks) {
  assert(rows.size() == plan.data.size());
  std::mutex mutex;  // guards all that follows
  std::optional<Error> fault;
  // The rows of one data set at one level of noise, made for the first of its cells and dropped after the
  // last.
  struct Noisy {
    std::shared_ptr<const LabelledTasks> rows;
    std::size_t left = 0;
  };
  std::map<std::pair<std::string, double>, Noisy> noisy;
  for (const ExperimentKey& key : wanted) ++noisy[{key.data, key.noise}].left;
  const auto rows_of = [&](const ExperimentKey& key) {
    const std::lock_guard lock(mutex);
    Noisy& found = noisy[{key.data, key.noise}];
    if (!found.rows) {
      const auto number = std::ranges::find(plan.data, key.data, &ExperimentData::name) - plan.data.begin();
      LabelledTasks copy = rows[static_cast<std::size_t>(number)];
      std::vector<Dataset*> tables = {&copy.target};
      if (copy.has_source()) tables.push_back(&copy.source);
      put_feature_noise(tables, key.noise, Rng(plan.seed, stream_of(key.data, 0, 1))());
      found.rows = std::make_shared<const LabelledTasks>(std::move(copy));
    }
    auto out = found.rows;
    if (--found.left == 0) found.rows.reset();  // never of several ranks, none of which has all cells
    return out;
  };

  const auto keep = [&](const ExperimentKey& key, Result<CellOutcome> outcome) -> bool {
    if (!outcome) {
      if (sink.failed) sink.failed(key, outcome.error());
      return true;
    }
    outcome->times.jobs = jobs;
    auto kept = sink.done(*outcome);
    if (!kept && !fault) fault = kept.error();
    return kept.ok();
  };

  if (ranks != nullptr && ranks->size() > 1) {
    const DealtWork work{
        .run = [&](std::size_t i, Watched& watched) -> std::optional<std::string> {
          if (watched.stop) return std::nullopt;
          const auto cell_rows = rows_of(wanted[i]);
          const auto outcome = run_cell(*cell_rows, plan, wanted[i], watched.inside());
          if (watched.stop) return std::nullopt;
          ++watched.steps;
          return packed(outcome);
        },
        .take = [&](std::size_t i,
                    const std::string& bytes) { return keep(wanted[i], unpacked(bytes, wanted[i])); }};
    const bool whole = deal_over_ranks(*ranks, wanted.size(), jobs, "cells", wanted.size(), observer, work);
    if (auto agreed = agree(*ranks, fault ? Result<void>(*fault) : Result<void>()); !agreed) return agreed;
    if (!whole) return Error{"stopped before all cells were done"};
    return {};
  }

  bool stopped = false;
  watched_for(wanted.size(), jobs, "cells", wanted.size(), observer, [&](std::size_t i, Watched& watched) {
    if (watched.stop) {
      const std::lock_guard lock(mutex);
      stopped = true;
      return;
    }
    const auto cell_rows = rows_of(wanted[i]);
    auto outcome = run_cell(*cell_rows, plan, wanted[i], watched.inside());
    const std::lock_guard lock(mutex);
    if (watched.stop) {  // what a stopped fit gave is no result
      stopped = true;
      return;
    }
    ++watched.steps;
    if (!keep(wanted[i], std::move(outcome))) watched.stop = true;
  });
  if (fault) return *fault;
  if (stopped) return Error{"stopped before all cells were done"};
  return {};
}

std::optional<double> seconds_for(std::span<const ExperimentKey> left,
                                  std::span<const ExperimentTimes> done) {
  struct Mean {
    double sum = 0, count = 0;
    void add(double value) {
      sum += value;
      ++count;
    }
  };
  std::map<std::pair<std::string, std::uint64_t>, Mean> exact;
  std::map<std::string, Mean> by_method;
  Mean all;
  for (const ExperimentTimes& times : done) {
    exact[{times.key.method, times.key.bag_size}].add(times.total);
    by_method[times.key.method].add(times.total);
    all.add(times.total);
  }
  if (all.count == 0) return std::nullopt;
  double out = 0;
  for (const ExperimentKey& key : left) {
    const auto near = exact.find({key.method, key.bag_size});
    const auto wider = by_method.find(key.method);
    const Mean& mean = near != exact.end() ? near->second : wider != by_method.end() ? wider->second : all;
    out += mean.sum / mean.count;
  }
  return out;
}

}  // namespace bagwise
