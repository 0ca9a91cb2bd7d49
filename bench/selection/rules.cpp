#include "rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "bagwise/bags/folds.h"
#include "bagwise/bags/take_bags.h"
#include "bagwise/evaluate/bag_cross_validation.h"
#include "bagwise/evaluate/committee.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/evaluate/relatedness.h"
#include "bagwise/evaluate/transfer_gate.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/methods/metric.h"

namespace bagwise::bench {
namespace {

using Index = Eigen::Index;

template <class T>
T or_abort(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().text());
    std::abort();
  }
  return std::move(*result);
}

struct Scored {
  RowMatrix scores;  // of rows, one column per plane
  std::vector<Probability> probability;
};

Scored score(const std::vector<TaskModel>& planes, const RowsView& rows, unsigned threads) {
  RowMatrix weights(static_cast<Index>(planes.size()), static_cast<Index>(column_count(rows)));
  Scored out;
  for (std::size_t s = 0; s < planes.size(); ++s) {
    weights.row(static_cast<Index>(s)) = Eigen::Map<const Vector>(planes[s].weights.data(), weights.cols());
    out.probability.push_back(planes[s].probability);
  }
  out.scores = products_with(rows, weights, threads);
  for (std::size_t s = 0; s < planes.size(); ++s)
    out.scores.col(static_cast<Index>(s)).array() += planes[s].bias;
  return out;
}

double accuracy(const Vector& scores, const std::vector<std::int8_t>& labels) {
  double right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    right += (scores[static_cast<Index>(i)] > 0) == (labels[i] > 0) ? 1 : 0;
  return right / static_cast<double>(labels.size());
}

// All fits of one method in one metric.
class Fits {
 public:
  Fits(const Cell& cell, const Arm& arm, std::uint64_t seed, unsigned threads)
      : cell_(cell), context_{.seed = seed, .threads = threads} {
    if (arm.method->uses_sources) tasks_.push_back({"source", reduce(cell.source, threads), &cell.source});
    tasks_.push_back({"target", reduce(cell.target, threads), &cell.target});
    std::vector<std::uint64_t> sizes(cell.target.bags.size(), 0);
    for (const std::uint32_t k : cell.target.bag_of_row) ++sizes[k];
    Rng rng(seed, 0);
    folds_ = bag_folds(sizes, cell.target.bags.proportions, 5, rng);
    BagCrossValidation validation(tasks_, folds_, Criterion::kMiscount, true, context_, {});
    const auto outcomes = or_abort(validation.run(arm, 0, folds_.size(), 0, 0));
    settings_ = settings_of(arm.paths).size();
    of_fold_.resize(folds_.size());
    for (const auto& path : outcomes) {
      for (std::size_t f = 0; f < folds_.size(); ++f) {
        for (const FoldOutcome& one : path[f]) of_fold_[f].push_back(one.planes.back());
      }
    }
    fit_all(arm);
    for (const OptionTexts& setting : settings_of(arm.paths))
      alone_.push_back(arm.method->learns_alone(setting));
    if (tasks_.size() > 1) related_ = or_abort(relatedness(tasks_, {}, context_));
  }

  // As `tune` weighs them: transfer or not by how related the source looks, then by the values.
  [[nodiscard]] std::vector<double> gated(const std::vector<double>& values, double tau) const {
    return gated_shares(values, alone_, share_with_transfer(related_), tau);
  }

  [[nodiscard]] std::vector<double> values(Criterion criterion) const {
    std::vector<double> out(settings_, 0.0);
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      const BaggedData held_out = take_bags(cell_.target, folds_[f]);
      std::vector<std::size_t> start = {0};
      for (std::size_t i = 0; i < held_out.bag_of_row.size(); ++i) {
        if (held_out.bag_of_row[i] + std::size_t{1} > start.size()) start.push_back(i);
      }
      start.push_back(held_out.bag_of_row.size());
      const Scored scored = score(of_fold_[f], held_out.features.view(), context_.threads);
      for (std::size_t s = 0; s < settings_; ++s) {
        const Vector column = scored.scores.col(static_cast<Index>(s));
        out[s] += criterion_value(criterion, {column.data(), static_cast<std::size_t>(column.size())},
                                  scored.probability[s], start, held_out.bags);
      }
    }
    return out;
  }

  // What a rule is worth on the test rows.
  [[nodiscard]] double of_setting(std::size_t s) const {
    return accuracy(whole_.scores.col(static_cast<Index>(s)), cell_.test.labels);
  }
  [[nodiscard]] double best_known() const {
    double out = 0;
    for (std::size_t s = 0; s < settings_; ++s) out = std::max(out, of_setting(s));
    return out;
  }
  [[nodiscard]] double average(const std::vector<double>& weights, bool of_planes) const {
    Vector total = Vector::Zero(static_cast<Index>(cell_.test.labels.size()));
    double sum = 0;
    for (const Scored& fold : test_) {
      for (std::size_t s = 0; s < settings_; ++s) {
        if (weights[s] == 0) continue;
        sum += weights[s];
        for (Index i = 0; i < total.size(); ++i) {
          const double f = fold.scores(i, static_cast<Index>(s));
          total[i] += weights[s] * (of_planes ? f : fold.probability[s].of(f) - 0.5);
        }
      }
    }
    return accuracy(total / sum, cell_.test.labels);
  }

 private:
  void fit_all(const Arm& arm) {
    std::optional<MappedTasks> mapped;
    Context context = context_;
    std::span<const TrainingTask> seen = tasks_;
    if (arm.metric != "none") {
      mapped = or_abort(map_tasks(tasks_, context_, false));
      seen = mapped->tasks;
      context = mapped->context(context);
    }
    std::vector<TaskModel> planes;
    for (const SettingsPath& path : arm.paths) {
      for (Fit& fit : or_abort(arm.method->fit_path(seen, path, context))) {
        if (mapped) fold_back(*mapped, fit.model);
        planes.push_back(raw_planes(fit.model).back());
      }
    }
    const RowsView test = cell_.test.features.view();
    whole_ = score(planes, test, context_.threads);
    for (const auto& fold : of_fold_) test_.push_back(score(fold, test, context_.threads));
  }

  const Cell& cell_;
  Context context_;
  std::vector<TrainingTask> tasks_;
  std::vector<std::vector<std::uint32_t>> folds_;
  std::size_t settings_ = 0;
  std::vector<bool> alone_;
  Relatedness related_;
  std::vector<std::vector<TaskModel>> of_fold_;  // planes of the target, per fold and setting
  Scored whole_;                                 // test rows by the fits to all bags
  std::vector<Scored> test_;                     // and by those of each fold
};

}  // namespace

std::vector<Outcome> compare_rules(const Cell& cell, std::uint64_t seed, unsigned threads) {
  std::vector<Outcome> out;
  for (const char* name : {"inv-cal", "tl-llp"}) {
    for (const char* metric : {"none", "pca"}) {
      const Method& method = *find_method(name);
      const Arm arm{&method, metric, method.default_grid(1)};
      const Fits fits(cell, arm, seed, threads);
      const auto add = [&](const std::string& rule, double value) {
        out.push_back({name, metric, rule, value});
      };
      add("oracle", fits.best_known());
      for (const auto& [criterion_name, criterion] : names(Criterion{})) {
        const std::vector<double> values = fits.values(criterion);
        const auto best = std::min_element(values.begin(), values.end()) - values.begin();
        add(fmt::format("{}/best", criterion_name), fits.of_setting(static_cast<std::size_t>(best)));
        for (const double tau : {1.0, 2.0, 4.0, 8.0, 16.0}) {
          if (criterion != Criterion::kMiscount && tau != 4) continue;
          const std::vector<double> weights = weights_of_values(values, tau);
          add(fmt::format("{}/average/{}", criterion_name, tau), fits.average(weights, false));
          if (tau != 4) continue;
          const std::vector<double> gated = fits.gated(values, tau);
          add(fmt::format("{}/gated/{}", criterion_name, tau), fits.average(gated, false));
          add(fmt::format("{}/plane/{}", criterion_name, tau), fits.average(gated, true));
        }
      }
    }
  }
  return out;
}

}  // namespace bagwise::bench
