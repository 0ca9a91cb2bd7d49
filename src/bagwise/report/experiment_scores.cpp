#include "bagwise/report/experiment_scores.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace bagwise {
namespace {

// Every result of the plan at its place.
void place_results(ExperimentScores& scores) {
  const ExperimentPlan& plan = scores.plan();
  std::map<ExperimentKey, const ExperimentResult*> by_key;
  for (const ExperimentResult& result : scores.run->results) by_key[result.key] = &result;
  for (std::size_t d = 0; d < plan.data.size(); ++d) {
    for (std::size_t s = 0; s < plan.bag_sizes.size(); ++s) {
      for (std::size_t n = 0; n < plan.noise.size(); ++n) scores.cases.push_back({d, s, n});
    }
  }
  scores.results.resize(scores.cases.size());
  scores.planned = scores.cases.size() * plan.methods.size() * plan.run_folds;
  for (std::size_t c = 0; c < scores.cases.size(); ++c) {
    const ExperimentCase& at = scores.cases[c];
    for (const ExperimentMethod& method : plan.methods) {
      CaseResult& result = scores.results[c].emplace_back();
      for (std::uint64_t fold = 0; fold < plan.run_folds; ++fold) {
        const auto found = by_key.find(
            {plan.data[at.data].name, method.name, plan.bag_sizes[at.size], plan.noise[at.noise], fold});
        const bool there = found != by_key.end();
        if (there) ++scores.done;
        result.folds.push_back(there ? found->second : nullptr);
        result.accuracy.push_back(there ? std::optional(found->second->accuracy) : std::nullopt);
      }
    }
  }
}

void average_folds(ExperimentScores& scores) {
  for (auto& methods : scores.results) {
    for (CaseResult& result : methods) {
      std::vector<double> known;
      for (const auto& accuracy : result.accuracy) {
        if (accuracy) known.push_back(*accuracy);
      }
      if (!known.empty() && known.size() == result.accuracy.size()) result.mean = sample_mean(known);
    }
  }
}

void find_common(ExperimentScores& scores) {
  for (std::size_t m = 0; m < scores.plan().methods.size(); ++m) {
    if (std::any_of(scores.results.begin(), scores.results.end(),
                    [&](const auto& methods) { return methods[m].mean.has_value(); })) {
      scores.tried.push_back(m);
    }
  }
  for (std::size_t c = 0; c < scores.cases.size(); ++c) {
    if (!scores.tried.empty() && std::all_of(scores.tried.begin(), scores.tried.end(), [&](std::size_t m) {
          return scores.results[c][m].mean.has_value();
        })) {
      scores.common.push_back(c);
    }
  }
}

void rank_methods(ExperimentScores& scores) {
  std::vector<CaseScores> cases(scores.cases.size());
  for (std::size_t c = 0; c < scores.cases.size(); ++c) {
    for (const std::size_t m : scores.tried) {
      const auto& mean = scores.results[c][m].mean;
      cases[c].push_back(mean ? std::optional(mean->mean) : std::nullopt);
    }
  }
  scores.ranks = compare_ranks(cases);
  if (scores.common.empty()) return;
  for (std::size_t i = 0; i < scores.tried.size(); ++i) {
    const std::size_t method = scores.tried[i];
    MethodScore score{.method = method,
                      .accuracy = mean_over(scores, method, scores.common),
                      .rank = scores.ranks.mean_ranks[i],
                      .published = published_mean(scores, method, scores.common)};
    for (const std::size_t c : scores.common) {
      const double own = *cases[c][i];
      const auto at_least_as_good = std::count_if(
          cases[c].begin(), cases[c].end(), [&](const auto& other) { return *other > own - kTiedScores; });
      const bool beaten = std::any_of(cases[c].begin(), cases[c].end(),
                                      [&](const auto& other) { return *other >= own + kTiedScores; });
      if (beaten) continue;
      ++score.best;
      if (at_least_as_good > 1) ++score.shared;
    }
    scores.methods.push_back(score);
  }
  std::stable_sort(
      scores.methods.begin(), scores.methods.end(),
      [](const MethodScore& a, const MethodScore& b) { return a.accuracy.mean > b.accuracy.mean; });
}

}  // namespace

ExperimentScores score_experiment(const ExperimentRun& run) {
  ExperimentScores scores;
  scores.run = &run;
  place_results(scores);
  average_folds(scores);
  find_common(scores);
  rank_methods(scores);
  return scores;
}

std::vector<std::size_t> common_cases(const ExperimentScores& scores, const CaseFilter& filter) {
  std::vector<std::size_t> out;
  std::copy_if(scores.common.begin(), scores.common.end(), std::back_inserter(out),
               [&](std::size_t c) { return filter(scores.cases[c]); });
  return out;
}

MeanOverCases mean_over(const ExperimentScores& scores, std::size_t method,
                        const std::vector<std::size_t>& cases) {
  MeanOverCases out{.cases = cases.size()};
  if (cases.empty()) return out;
  double squares = 0;
  bool spread = true;
  for (const std::size_t c : cases) {
    const SampleMean& mean = *scores.results[c][method].mean;
    out.mean += mean.mean;
    squares += mean.error() * mean.error();
    spread = spread && mean.count > 1;
  }
  out.mean /= static_cast<double>(cases.size());
  if (spread) out.error = std::sqrt(squares) / static_cast<double>(cases.size());
  return out;
}

const PublishedFigure* published_figure(const ExperimentScores& scores, std::size_t method,
                                        const ExperimentCase& at) {
  const ExperimentPlan& plan = scores.plan();
  if (plan.noise[at.noise] != 0) return nullptr;
  for (const PublishedFigure& figure : plan.published) {
    if (figure.data == plan.data[at.data].name && figure.method == plan.methods[method].name &&
        figure.bag_size == plan.bag_sizes[at.size])
      return &figure;
  }
  return nullptr;
}

std::optional<double> published_mean(const ExperimentScores& scores, std::size_t method,
                                     const std::vector<std::size_t>& cases) {
  double sum = 0;
  for (const std::size_t c : cases) {
    const PublishedFigure* figure = published_figure(scores, method, scores.cases[c]);
    if (figure == nullptr) return {};
    sum += figure->accuracy;
  }
  if (cases.empty()) return {};
  return sum / static_cast<double>(cases.size());
}

MethodPair compare_methods(const ExperimentScores& scores, std::size_t a, std::size_t b) {
  MethodPair out;
  CaseScores first, second;
  for (const std::size_t c : scores.common) {
    first.emplace_back(scores.results[c][a].mean->mean);
    second.emplace_back(scores.results[c][b].mean->mean);
    const PairedDifference within = compare_in_case(scores, c, a, b);
    if (within.clearly_above()) ++out.clearly_above;
    if (within.clearly_below()) ++out.clearly_below;
  }
  out.over_cases = compare_pairs(first, second);
  return out;
}

PairedDifference compare_in_case(const ExperimentScores& scores, std::size_t at, std::size_t a,
                                 std::size_t b) {
  return compare_pairs(scores.results[at][a].accuracy, scores.results[at][b].accuracy);
}

}  // namespace bagwise
