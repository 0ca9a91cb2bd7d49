// What every fit must hold to, however nasty its data or options are.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "bagwise/methods/registry.h"
#include "bagwise/methods/scorer.h"
#include "bagwise/report/model_file.h"
#include "support/dumb_objective.h"

namespace bagwise::test {

struct Variant {
  std::string method;
  OptionTexts options = {};

  [[nodiscard]] std::string name() const {
    std::string out = method;
    for (const auto& [option, value] : options) out += " " + option + "=" + value;
    return out;
  }
};

inline std::vector<TrainingTask> tasks_of(const std::vector<BaggedData>& data) {
  std::vector<TrainingTask> out;
  for (std::size_t t = 0; t < data.size(); ++t)
    out.push_back({t + 1 == data.size() ? "target"
                   : t == 0             ? "source"
                                        : "source-" + std::to_string(t + 1),
                   reduce(data[t]), &data[t]});
  return out;
}

// An error names its cause in words: one of `told`, without numbers that are none.
inline void expect_named(const Error& error, const std::vector<std::string>& told) {
  CAPTURE(error.text());
  CHECK(std::any_of(told.begin(), told.end(),
                    [&](const std::string& part) { return error.message.find(part) != std::string::npos; }));
  for (const char* no_number : {"nan", "inf"}) CHECK(error.message.find(no_number) == std::string::npos);
  const auto advises = [&](const char* word) { return error.message.find(word) != std::string::npos; };
  CHECK((advises("expected") || advises("divide") || advises("multiply")));
}

// Every number of a fit is one, its report is what its model says, and its scores are numbers.
inline void expect_sound(const Model& model, const std::vector<TrainingTask>& tasks) {
  const TrainingReport& report = model.training;
  // Reading a model refuses whatever is not finite.
  const std::string file = model_to_json(model);
  const auto loaded = model_from_json(file, "model");
  if (!loaded) FAIL(loaded.error().text());
  CHECK(model_to_json(*loaded) == file);
  for (std::size_t t = 0; t < model.tasks.size(); ++t) {
    const BaggedData& data = *tasks[tasks.size() - model.tasks.size() + t].rows;
    const auto f = finite_scores(Scorer(model, t), data.features.view());
    if (!f) FAIL(f.error().text());
    for (const double score : *f) {
      const double p = model.tasks[t].probability.of(score);
      if (!(p >= 0 && p <= 1)) FAIL("a probability of " << p);
    }
  }

  if (!report.dual_objective || !report.relative_gap) return;
  const double primal = report.convex_objective.value_or(report.objective), dual = *report.dual_objective;
  if (std::abs(primal) < 1e-300) return;  // denormals have no digits for a gap
  CHECK(dual <= primal + 1e-12 * std::abs(primal));
  CHECK(*report.relative_gap == (primal == dual ? 0 : (primal - dual) / std::abs(primal)));
  const double asked = static_cast<double>(option(model, model.method == "mean-map" ? "tolerance" : "gap"));
  if (report.termination == "converged" && model.method != "mean-map") CHECK(*report.relative_gap <= asked);
  if (*report.relative_gap > asked && model.method != "mean-map") CHECK(report.termination != "converged");
  if (report.termination != "converged") CHECK_FALSE(report.warnings.empty());
  if (const auto dumb = dumb_objective(model, tasks)) {
    const auto off = static_cast<double>(std::abs(dumb->value - report.objective));
    CAPTURE(report.objective, static_cast<double>(dumb->value), static_cast<double>(dumb->noise));
    CHECK(off <= static_cast<double>(dumb->noise) + 1e-9 * std::abs(report.objective));
  }
}

// A fit of the variant: a sound answer, or, where something may be told, an error that tells it.
inline void expect_fit(const Variant& variant, const std::vector<BaggedData>& data,
                       const std::vector<std::string>& told, bool hopeless = false) {
  const auto tasks = tasks_of(data);
  const auto fit = find_method(variant.method)->fit(tasks, variant.options, {.threads = 1});
  if (!fit) {
    expect_named(fit.error(), told);
    return;
  }
  CHECK_FALSE(hopeless);
  expect_sound(fit->model, tasks);
}

}  // namespace bagwise::test
