// Files that were made to hurt: whatever stands in a model, an experiment, a grid or a journal is refused
// with an error, or read and used. Nothing throws.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <iterator>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/hash.h"
#include "bagwise/evaluate/arms.h"
#include "bagwise/evaluate/tuning.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/scorer.h"
#include "bagwise/report/experiment_file.h"
#include "bagwise/report/experiment_journal.h"
#include "bagwise/report/experiment_page.h"
#include "bagwise/report/experiment_scores.h"
#include "bagwise/report/grid_file.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/model_page.h"
#include "bagwise/report/training_text.h"
#include "bagwise/report/tuning_journal.h"
#include "support/bag_problems.h"
#include "support/json_mutations.h"
#include "support/temp_dir.h"

namespace bagwise {
namespace {

using test::AnyJson;

std::string text_of(const AnyJson& json) {
  return json.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

// The document with a checksum that is right, as whoever forges a file would give it.
std::string signed_text(AnyJson document) {
  if (!document.is_object() || !document.contains("checksum")) return text_of(document);
  document.erase("checksum");
  document["checksum"] = fmt::format("fnv1a64:{:016x}", Fnv1a().add(text_of(document)).value());
  return text_of(document);
}

struct Tally {
  std::size_t refused = 0, read = 0;
};

// A model that was read can be used in every way that a model is used.
void check_usable(const Model& model) {
  DenseRows rows(3, model.features.size());
  for (std::size_t i = 0; i < rows.rows(); ++i)
    for (std::size_t j = 0; j < rows.columns(); ++j) rows(i, j) = static_cast<double>(i * 3 + j) - 2.5;
  for (std::size_t t = 0; t < model.tasks.size(); ++t) {
    const Scorer scorer(model, t);
    const auto scores = finite_scores(scorer, rows.view(), 1);
    if (!scores) {
      CHECK_FALSE(scores.error().message.empty());
      continue;
    }
    REQUIRE(scores->size() == 3);
    for (const double score : *scores) {
      REQUIRE(std::isfinite(score));
      const double share = scorer.probability(score);
      REQUIRE((share >= 0 && share <= 1));
    }
  }
  CHECK_FALSE(model.find_task("no such task"));
  const std::string page = model_page(model, std::nullopt);
  CHECK(page.find("<script>") == std::string::npos);
  CHECK(page.find('\x1B') == std::string::npos);
  static_cast<void>(training_lines(model));
  static_cast<void>(transfer_line(model.training));
  static_cast<void>(starts_line(model.training));
  static_cast<void>(uncertainty_line(model.training));
  static_cast<void>(task_table(model.training).text());
  const auto again = model_from_json(model_to_json(model), "again");
  INFO((again ? "" : again.error().text()));
  REQUIRE(again.ok());
}

Tally check_mutations(const Model& model) {
  Tally out;
  const std::string whole = model_to_json(model);
  check_usable(model);
  test::for_each_mutation(AnyJson::parse(whole), [&](const AnyJson& changed, const std::string& how) {
    INFO(how);
    const auto read = model_from_json(signed_text(changed), "m.json");
    if (!read) {
      ++out.refused;
      REQUIRE(read.error().file == "m.json");
      REQUIRE_FALSE(read.error().message.empty());
      REQUIRE(read.error().message.size() < 6000);
      return;
    }
    ++out.read;
    check_usable(*read);
  });
  return out;
}

Model fitted(const std::string& name, const OptionTexts& options, bool with_source) {
  Rng rng(7);
  const Method* method = find_method(name);
  const BaggedData source = test::random_bags(rng, 4, 2, 3), target = test::random_bags(rng, 4, 2, 3);
  std::vector<TrainingTask> tasks;
  if (with_source) tasks.push_back({"source", reduce(source, 1), &source});
  tasks.push_back({"target", reduce(target, 1), &target});
  const auto fit = method->fit(tasks, options, {.threads = 1});
  INFO((fit ? "" : fit.error().text()));
  REQUIRE(fit.ok());
  return fit->model;
}

TEST_CASE("untrusted: a model changed anywhere is refused or can be used", "[untrusted]") {
  struct Kind {
    std::string method;
    OptionTexts options;
    bool with_source = false;
  };
  std::vector<Kind> kinds;
  for (const Method& method : methods()) kinds.push_back({method.name, {}, method.uses_sources});
  kinds.push_back({"tl-llp", {{"kernel", "rbf"}}, true});
  kinds.push_back({"inv-cal", {{"kernel", "poly"}, {"nystrom", "3"}}});
  kinds.push_back({"mean-map", {{"scale", "standard"}}});
  kinds.push_back({"inv-cal", {{"metric", "pca"}}});
  for (const Kind& kind : kinds) {
    CAPTURE(kind.method, kind.options);
    const Tally tally = check_mutations(fitted(kind.method, kind.options, kind.with_source));
    CHECK(tally.refused > 1000);
    CHECK(tally.read > 50);
  }
}

TEST_CASE("untrusted: a committee changed anywhere is refused or can be used", "[untrusted]") {
  Rng rng(3);
  const BaggedData data = test::random_bags(rng, 8, 2, 3);
  const TrainingTask task{"target", reduce(data, 1), &data};
  const Method* method = find_method("inv-cal");
  TuneOptions options;
  options.folds = 2;
  const auto arms = arms_by_metric(*method, {{{{"C", "1"}}, {{"C", "4"}}}});
  const auto tuned = tune({&task, 1}, arms, options, {.threads = 1});
  INFO((tuned ? "" : tuned.error().text()));
  REQUIRE(tuned.ok());
  REQUIRE(tuned->fit.model.committee.has_value());
  const Tally tally = check_mutations(tuned->fit.model);
  CHECK(tally.refused > 1000);
  CHECK(tally.read > 50);
}

TEST_CASE("untrusted: numbers that JSON can only spell are refused in every place of a model",
          "[untrusted]") {
  const Model model = fitted("tl-llp", {}, true);
  std::size_t places = 0;
  test::for_each_mutation(AnyJson::parse(model_to_json(model)), [&](AnyJson changed, const std::string& how) {
    if (!how.ends_with(": \"x\"")) return;  // one per place
    std::string text = text_of(changed);
    const std::size_t at = text.find("\"x\"");
    if (at == std::string::npos) return;
    ++places;
    for (const char* bad :
         {"1e999", "-1e999", "NaN", "Infinity", "0x1", "1.", ".5", "+1", "\"\xFF\"", "\"\\ud800\""}) {
      const auto read = model_from_json(std::string(text).replace(at, 3, bad), "m.json");
      INFO(how << " " << bad);
      REQUIRE_FALSE(read.ok());
    }
  });
  CHECK(places > 50);
}

constexpr const char* kExperiment = R"({"name": "x", "title": "All of it",
  "data": [{"name": "g", "title": "G", "kind": "documents", "preset": "unrelated", "seed": 7, "source_rows": 50,
            "target_rows": 40, "features": 30, "best_accuracy": 0.8, "angle": 45},
           {"name": "p", "pair": 9, "seed": 3, "missing_body": "omit"},
           {"name": "t", "target": "t.csv", "source": "sub/s.csv"}],
  "methods": [{"name": "a", "title": "A", "method": "tl-llp", "grid": {"C": [1, 2], "lambda": 3},
               "set": {"metric": ["none", "pca"]}, "selection": {"combine": "plane", "tau": 2}},
              {"name": "mean-map", "sources": false, "options": {"lambda": 2}}],
  "bag_sizes": [2, 8], "noise": [0, 0.5], "folds": 3, "run_folds": 2, "seed": 9,
  "selection": {"folds": 3, "repeats": 2, "criterion": "soft-error", "combine": "best", "search": "halving"},
  "published": {"cite": "Someone, 2000",
                "figures": [{"data": "g", "method": "a", "bag_size": 2, "accuracy": 0.5, "deviation": 0.1}]}})";

TEST_CASE("untrusted: an experiment changed anywhere is refused or is one", "[untrusted]") {
  Tally tally;
  REQUIRE(experiment_from_json(kExperiment, "e.json").ok());
  test::for_each_mutation(AnyJson::parse(kExperiment), [&](const AnyJson& changed, const std::string& how) {
    INFO(how);
    const auto read = experiment_from_json(text_of(changed), "e.json");
    ++(read ? tally.read : tally.refused);
    if (read) {
      REQUIRE(experiment_from_json(read->document, "again").ok());
      REQUIRE_FALSE(read->plan.methods.empty());
      static_cast<void>(fingerprint(read->plan.methods[0]));
    } else {
      REQUIRE_FALSE(read.error().file.empty());
      REQUIRE(read.error().message.size() < 12000);
    }
  });
  CHECK(tally.refused > 1500);
  CHECK(tally.read > 100);
}

TEST_CASE("untrusted: a grid changed anywhere is refused or is one", "[untrusted]") {
  Tally tally;
  const char* const grids[] = {
      R"({"C": [1, 2], "epsilon": 0.1, "C-source": [[1, 2], [3, 4]], "metric": ["none"]})",
      R"([{"C": [1, 2]}, {"C": 3, "epsilon": [0, 1]}])",
      R"({"inv-cal": {"C": [1, 2]}, "tl-llp": [{"lambda": 3}]})"};
  for (const char* grid : grids) {
    REQUIRE(grid_from_json(grid, "g.json").ok());
    test::for_each_mutation(AnyJson::parse(grid), [&](const AnyJson& changed, const std::string& how) {
      INFO(how);
      const auto read = grid_from_json(text_of(changed), "g.json");
      ++(read ? tally.read : tally.refused);
      if (!read) {
        REQUIRE(read.error().message.size() < 6000);
        return;
      }
      for (const auto& [name, paths] : read->by_method) {
        for (const char* method : {"inv-cal", "tl-llp"}) {
          const auto checked = check_grid(*find_method(method), paths);
          REQUIRE((checked.ok() || !checked.error().message.empty()));
        }
      }
    });
  }
  CHECK(tally.refused > 200);
  CHECK(tally.read > 100);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}
std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("untrusted: the folder of an experiment changed anywhere is refused or makes a page",
          "[untrusted]") {
  const test::TempDir folder;
  const auto plan = experiment_from_json(
      R"({"name": "x", "data": [{"name": "g", "kind": "gaussian"}],
          "methods": [{"name": "inv-cal"}, {"name": "mean-map"}], "bag_sizes": [2, 8], "folds": 2})",
      "e.json");
  REQUIRE(plan.ok());
  {
    auto journal = ExperimentJournal::open(folder.path.string(), *plan, {{"g", "0123"}});
    REQUIRE(journal.ok());
    for (const char* method : {"inv-cal", "mean-map"}) {
      for (const std::uint64_t size : {2, 8}) {
        for (const std::uint64_t fold : {0, 1}) {
          CellOutcome cell;
          cell.result = {{"g", method, size, 0, fold}, 0.75, 0.5, std::nullopt, 0.125, {{"C", "0.5"}}};
          cell.times = {cell.result.key, 1.5, 0.25, 2, 16, 2};
          REQUIRE(journal->append(cell).ok());
        }
      }
    }
  }
  Tally tally;
  const auto look = [&](const std::string& how) {
    INFO(how);
    const auto run = read_experiment(folder.path.string());
    ++(run ? tally.read : tally.refused);
    if (!run) {
      REQUIRE_FALSE(run.error().message.empty());
      return;
    }
    const std::string page = experiment_page(score_experiment(*run));
    REQUIRE(page.find("<script>") == std::string::npos);
  };
  for (const char* name : {"results.jsonl", "timings.jsonl"}) {
    const std::string path = folder.file(name), whole = read_text(path);
    const std::size_t end = whole.find('\n');
    test::for_each_mutation(AnyJson::parse(whole.substr(0, end)),
                            [&](const AnyJson& changed, const std::string& how) {
                              write_text(path, text_of(changed) + whole.substr(end));
                              look(how);
                            });
    write_text(path, std::string(100000, '[') + whole.substr(end));
    look("deep");
    write_text(path, whole);
  }
  const std::string path = folder.file("experiment.json");
  const std::string whole = read_text(path);
  test::for_each_mutation(AnyJson::parse(whole), [&](const AnyJson& changed, const std::string& how) {
    if (how.find("fingerprints") == std::string::npos && how.find("format") == std::string::npos) return;
    write_text(path, text_of(changed));
    INFO(how);
    const auto journal = ExperimentJournal::open(folder.path.string(), *plan, {{"g", "0123"}});
    ++(journal ? tally.read : tally.refused);
  });
  CHECK(tally.refused > 200);
  CHECK(tally.read > 50);
}

TEST_CASE("untrusted: a tuning journal changed anywhere is cut there or replaced", "[untrusted]") {
  const test::TempDir folder;
  const std::string path = folder.file("j");
  const std::string print = "0123456789abcdef";
  {
    auto journal = TuningJournal::open(path, print);
    REQUIRE(journal.ok());
    (*journal)->memory().keep("key", {{1.5, {{"target", {1, 2}, 3, {4, 5}}}}});
  }
  const std::string whole = read_text(path);
  const std::size_t end = whole.find('\n') + 1;
  std::size_t kept = 0, cut = 0;
  test::for_each_mutation(AnyJson::parse(whole.substr(end)),
                          [&](const AnyJson& changed, const std::string& how) {
                            INFO(how);
                            write_text(path, whole.substr(0, end) + text_of(changed) + "\n");
                            const auto journal = TuningJournal::open(path, print);
                            REQUIRE(journal.ok());
                            const std::string after = read_text(path);
                            ++(after.size() > end ? kept : cut);
                          });
  CHECK(kept > 10);
  CHECK(cut > 200);
}

}  // namespace
}  // namespace bagwise
