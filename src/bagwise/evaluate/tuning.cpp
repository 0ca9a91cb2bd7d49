#include "bagwise/evaluate/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bagwise/bags/folds.h"
#include "bagwise/core/memory_budget.h"
#include "bagwise/core/timing.h"
#include "bagwise/evaluate/committee.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/evaluate/transfer_gate.h"
#include "bagwise/methods/bag_checks.h"

namespace bagwise {
namespace {

// What is known of the settings of one arm while they are tried.
struct ArmState {
  std::vector<std::size_t> first;                  // of each path, its first setting's number in the arm
  std::vector<Tried> tried;                        // all settings of the arm
  std::vector<std::vector<FoldOutcome>> outcomes;  // per setting, per fold it was tried on
  std::vector<bool> alive;                         // whether halving still keeps it
  std::vector<bool> alone;                         // whether it learns without the sources
};

Result<std::vector<std::vector<std::uint32_t>>> make_folds(const BaggedData& target,
                                                           const TuneOptions& options, std::uint64_t seed) {
  const std::size_t bags = target.bags.size();
  if (options.folds < 2 || options.folds > bags) {
    return Error{
        fmt::format("folds = {} with {} bags; expected from 2 to the number of bags", options.folds, bags)};
  }
  std::vector<std::uint64_t> sizes(bags, 0);
  for (const std::uint32_t k : target.bag_of_row) ++sizes[k];
  std::vector<std::vector<std::uint32_t>> out;
  for (std::uint64_t r = 0; r < options.repeats; ++r) {
    Rng rng(seed, r);
    for (auto& fold : bag_folds(sizes, target.bags.proportions, options.folds, rng))
      out.push_back(std::move(fold));
  }
  return out;
}

// The paths without the settings that halving dropped, and the number of each setting that is left.
std::pair<Arm, std::vector<std::vector<std::size_t>>> living(const Arm& arm, const ArmState& state) {
  Arm out{arm.method, arm.metric, {}};
  std::vector<std::vector<std::size_t>> numbers;
  for (std::size_t p = 0; p < arm.paths.size(); ++p) {
    SettingsPath path;
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < arm.paths[p].size(); ++i) {
      const std::size_t s = state.first[p] + i;
      if (!state.alive[s]) continue;
      path.push_back(arm.paths[p][i]);
      kept.push_back(s);
    }
    if (path.empty()) continue;
    out.paths.push_back(std::move(path));
    numbers.push_back(std::move(kept));
  }
  return {std::move(out), std::move(numbers)};
}

std::size_t count_alive(const ArmState& state) {
  return static_cast<std::size_t>(std::count(state.alive.begin(), state.alive.end(), true));
}

// Keeps the better third, but not fewer than are worth a choice.
std::size_t kept_of(std::size_t settings) {
  constexpr std::size_t kLeast = 10;
  return std::max(std::min(settings, kLeast), (settings + 2) / 3);
}

void drop_worse(ArmState& state) {
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < state.tried.size(); ++s) {
    if (state.alive[s]) order.push_back(s);
  }
  const std::size_t keep = kept_of(order.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return state.tried[a].value < state.tried[b].value; });
  for (std::size_t i = keep; i < order.size(); ++i) {
    state.alive[order[i]] = false;
    state.outcomes[order[i]].clear();
  }
}

// How many fits a search makes: settings times folds.
double fits_of(std::size_t settings, std::size_t folds, Search search) {
  double out = 0;
  for (std::size_t f = 0; f < folds; ++f) {
    out += static_cast<double>(settings);
    if (search == Search::kHalving) settings = kept_of(settings);
  }
  return out;
}

Result<ArmState> try_arm(BagCrossValidation& validation, const Arm& arm, std::size_t number, Search search,
                         double done, double total) {
  ArmState state;
  for (const SettingsPath& path : arm.paths) {
    state.first.push_back(state.tried.size());
    for (const OptionTexts& setting : path) {
      state.tried.push_back({number, setting, 0, 0});
      state.alone.push_back(arm.method->learns_alone(setting));
    }
  }
  state.outcomes.resize(state.tried.size());
  state.alive.assign(state.tried.size(), true);
  const std::size_t folds = validation.folds();
  const std::size_t at_once = search == Search::kGrid ? folds : 1;
  for (std::size_t from = 0; from < folds; from += at_once) {
    if (from > 0) drop_worse(state);
    const auto [left, numbers] = living(arm, state);
    auto found = validation.run(left, from, at_once, done, total);
    if (!found) return found.error();
    done += static_cast<double>(count_alive(state) * at_once);
    for (std::size_t p = 0; p < numbers.size(); ++p) {
      for (std::size_t f = 0; f < at_once; ++f) {
        for (std::size_t i = 0; i < numbers[p].size(); ++i) {
          Tried& tried = state.tried[numbers[p][i]];
          FoldOutcome& outcome = (*found)[p][f][i];
          tried.value += outcome.value;
          ++tried.folds;
          state.outcomes[numbers[p][i]].push_back(std::move(outcome));
        }
      }
    }
  }
  return state;
}

// Whether an arm has settings of both kinds, so that there is something to weigh.
bool asks_for_transfer(const ArmState& arm) {
  bool with = false, without = false;
  for (std::size_t s = 0; s < arm.tried.size(); ++s) {
    if (arm.alive[s]) (arm.alone[s] ? without : with) = true;
  }
  return with && without;
}

// The shares of an arm's settings, together 1; nothing for those that halving dropped.
std::vector<double> shares_within(const ArmState& arm, double transfer, double tau) {
  std::vector<double> values;
  std::vector<bool> alone;
  for (std::size_t s = 0; s < arm.tried.size(); ++s) {
    if (!arm.alive[s]) continue;
    values.push_back(arm.tried[s].value);
    alone.push_back(arm.alone[s]);
  }
  const std::vector<double> shares = gated_shares(values, alone, transfer, tau);
  std::vector<double> out(arm.tried.size(), 0.0);
  for (std::size_t s = 0, i = 0; s < out.size(); ++s) {
    if (arm.alive[s]) out[s] = shares[i++];
  }
  return out;
}

double least_value(const ArmState& arm) {
  double out = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < arm.tried.size(); ++s) {
    if (arm.alive[s]) out = std::min(out, arm.tried[s].value);
  }
  return out;
}

// Weights of all settings of all arms. Within an arm as the values say, and with transfer or without as the
// sources look; an arm as its best setting says, so that a method does not weigh more for having more
// settings.
std::vector<std::vector<double>> setting_weights(const std::vector<ArmState>& arms, double transfer,
                                                 double tau) {
  std::vector<double> least;
  std::vector<std::vector<double>> out;
  for (const ArmState& arm : arms) {
    out.push_back(shares_within(arm, transfer, tau));
    least.push_back(least_value(arm));
  }
  const std::vector<double> of_arms = weights_of_values(least, tau);
  for (std::size_t a = 0; a < arms.size(); ++a) {
    for (double& weight : out[a]) weight *= of_arms[a];
  }
  return out;
}

void find_best(const std::vector<ArmState>& states, double tau, Tuned& out) {
  double least = std::numeric_limits<double>::infinity();
  for (const ArmState& state : states) {
    const bool both = asks_for_transfer(state);
    for (std::size_t s = 0; s < state.tried.size(); ++s) {
      const double share = state.alone[s] ? 1 - out.transfer_share : out.transfer_share;
      const double value = state.tried[s].value - (both ? tau * std::log(share) : 0);
      if (state.alive[s] && value < least) {
        least = value;
        out.best = out.tried.size();
      }
      out.tried.push_back(state.tried[s]);
    }
  }
}

void combine(const std::vector<Arm>& arms, std::vector<ArmState>& states, const TuneOptions& options,
             Tuned& out) {
  const auto weights = setting_weights(states, out.transfer_share, options.tau);
  std::vector<Member> members;
  std::vector<std::string> settings;
  double total = 0;
  for (std::size_t a = 0; a < states.size(); ++a) {
    out.arm_shares[a] = std::accumulate(weights[a].begin(), weights[a].end(), 0.0);
    total += out.arm_shares[a];
    for (std::size_t s = 0; s < weights[a].size(); ++s) {
      if (weights[a][s] == 0) continue;
      auto& outcomes = states[a].outcomes[s];
      for (std::size_t f = 0; f < outcomes.size(); ++f) {
        members.push_back({static_cast<std::uint32_t>(settings.size()), static_cast<std::uint32_t>(f),
                           weights[a][s] / static_cast<double>(outcomes.size()),
                           std::move(outcomes[f].planes)});
      }
      settings.push_back(full_text(arms[a], states[a].tried[s].setting));
    }
  }
  for (double& share : out.arm_shares) share /= total;
  out.members = members.size();
  set_committee(std::move(members), std::move(settings), out.fit.model);
  if (options.combine == Combine::kPlane) out.fit.model.committee.reset();
}

// The report of a model that no single solve gave.
void report_combined(const BaggedData& target, const Context& context, Tuned& out) {
  Model& model = out.fit.model;
  TrainingReport& report = model.training;
  model.features = target.feature_names;
  report.objective = out.tried[out.best].value;
  report.termination = "converged";
  report.instances = target.bag_of_row.size();
  report.features = target.feature_names.size();
  report.bags = target.bags.size();
  report.seed = context.seed;
}

}  // namespace

std::string full_text(const Arm& arm, const OptionTexts& setting) {
  std::string out = arm.method->name;
  if (const std::string text = setting_text(setting); !text.empty()) out += " " + text;
  return arm.metric == "none" ? out : out + " metric=" + arm.metric;
}

Result<Tuned> tune(std::span<const TrainingTask> tasks, const std::vector<Arm>& arms,
                   const TuneOptions& options, const Context& context, const Memory& memory) {
  if (arms.empty()) return Error{"there is no method to tune; expected at least one"};
  for (const Arm& arm : arms) {
    // With the metric: it is an option too, and does not go with every other.
    const auto paths = with_axes(arm.paths, {{"metric", {arm.metric}}});
    if (auto checked = check_grid(*arm.method, paths); !checked) return checked.error();
  }
  if (auto checked = check_target_bags(tasks.back().reduced); !checked) return checked.error();
  const BaggedData& target = *tasks.back().rows;
  auto folds = make_folds(target, options, context.seed);
  if (!folds) return folds.error();
  double total = 0, done = 0;
  for (const Arm& arm : arms) total += fits_of(settings_of(arm.paths).size(), folds->size(), options.search);

  if (options.combine != Combine::kBest) {
    if (auto fits = check_matrix("the planes of all settings on all folds", total,
                                 static_cast<double>(target.features.columns()),
                                 "try fewer settings, or keep the best alone (combine best)");
        !fits)
      return fits.error();
  }
  Stopwatch watch;
  BagCrossValidation validation(tasks, *folds, options.criterion, options.combine != Combine::kBest, context,
                                memory, options.ranks);
  Tuned out;
  std::vector<ArmState> states;
  for (std::size_t a = 0; a < arms.size(); ++a) {
    auto state = try_arm(validation, arms[a], a, options.search, done, total);
    if (!state) return state.error();
    done += fits_of(state->tried.size(), validation.folds(), options.search);
    states.push_back(std::move(*state));
  }
  for (ArmState& state : states) {
    for (Tried& tried : state.tried) tried.value /= static_cast<double>(options.repeats);
  }
  if (std::any_of(states.begin(), states.end(), asks_for_transfer) && tasks.size() > 1) {
    const OptionTexts& any = states[0].tried[0].setting;
    const auto scale = any.find("scale");
    const OptionTexts same = scale == any.end() ? OptionTexts{} : OptionTexts{*scale};
    auto related = relatedness(tasks, same, context);
    // A source too poor to tell (one proportion in all its bags) leaves the question open.
    out.related = related ? *related : Relatedness{};
    out.transfer_share = share_with_transfer(*out.related);
  }
  find_best(states, options.tau, out);
  out.choose_seconds = watch.seconds();

  Stopwatch finishing;
  const Tried& best = out.tried[out.best];
  const Arm& arm = arms[best.arm];
  out.arm_shares.assign(arms.size(), 0.0);
  if (options.combine == Combine::kBest) {
    out.arm_shares[best.arm] = 1;
    OptionTexts setting = best.setting;
    if (arm.metric != "none") setting["metric"] = arm.metric;
    auto fit = arm.method->fit(tasks_for(*arm.method, setting, tasks), setting, context);
    if (!fit) return fit.error();
    out.fit = std::move(*fit);
  } else {
    combine(arms, states, options, out);
    report_combined(target, context, out);
    const bool one_method = std::all_of(arms.begin(), arms.end(),
                                        [&](const Arm& other) { return other.method == arms[0].method; });
    out.fit.model.method = one_method ? arm.method->name : "auto";
    for (const auto& [name, text] : best.setting) out.fit.model.options.emplace_back(name, text);
    if (arm.metric != "none") out.fit.model.options.emplace_back("metric", arm.metric);
  }
  out.fit.model.selection = Selection{.criterion = name_of(options.criterion),
                                      .combine = name_of(options.combine),
                                      .search = name_of(options.search),
                                      .folds = options.folds,
                                      .repeats = options.repeats,
                                      .seed = context.seed,
                                      .settings = out.tried.size(),
                                      .best = full_text(arm, best.setting),
                                      .value = best.value};
  out.final_seconds = finishing.seconds();
  out.fit.solve_seconds = out.choose_seconds + out.final_seconds;
  return out;
}

}  // namespace bagwise
