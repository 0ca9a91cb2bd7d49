// bagwise diagnose: what bags can teach, and how good a model is, without a single label.
#include <fmt/format.h>

#include "bagwise/core/version.h"
#include "bagwise/report/diagnosis_text.h"
#include "bagwise/report/model_file.h"
#include "cli/diagnosing.h"
#include "cli/output.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

Result<int> run_diagnose(const Arguments& arguments) {
  std::optional<Model> model;
  const std::string model_file = arguments.text("model");
  if (arguments.has("model")) {
    auto loaded = load_model(model_file);
    if (!loaded) return loaded.error();
    model = std::move(*loaded);
  }
  for (const char* name : {"bootstrap", "folds", "worst", "top"}) {
    if (!model && arguments.has(name))
      return Error{fmt::format("--{} is about a model: give one with --model", name)};
  }
  const auto files = diagnosed_files(arguments, model, model_file);
  if (!files) return files.error();
  const auto diagnosed = diagnose(arguments, *files, model);
  if (!diagnosed) return diagnosed.error();
  if (!*diagnosed) return 0;
  const Diagnosis& diagnosis = **diagnosed;
  if (arguments.flag("json")) {
    Json out = diagnosis_json(diagnosis);
    out["seed"] = arguments.whole("seed");
    out["version"] = kVersion;
    print(to_text(out, 2) + "\n");
  } else {
    print(diagnosis_text(diagnosis, {arguments.whole("worst"), arguments.whole("top")}));
  }
  return 0;
}

}  // namespace

Command diagnose_command() {
  std::vector<Option> options = diagnosed_data_options();
  options.push_back({.name = "model",
                     .value = "FILE",
                     .help = "a model that was trained on these data, with the same options for them",
                     .shown = "none",
                     .group = "After training"});
  append(options, diagnosis_options("After training"));
  append(options, {{.name = "worst",
                    .value = "N",
                    .help = "how many bags to show, those that fit worst; --json has all",
                    .fallback = "10",
                    .group = "After training",
                    .kind = Kind::kWhole},
                   {.name = "top",
                    .value = "N",
                    .help = "how many weights to show, the largest first; --json has 1000 at most",
                    .fallback = "10",
                    .group = "After training",
                    .kind = Kind::kWhole}});
  append(options, {seed_option(), threads_option(), quiet_option(), json_option()});
  append(options, feature_options());
  append(options, column_options());
  return {"diagnose",
          "tell what bags can teach, whether a source helps, and how good a model is, without labels",
          "--target T.csv --target-proportions P.csv [--source S.csv --source-proportions Q.csv]... [--model "
          "model.json] [OPTION]...",
          "Before training: sizes and proportions of the bags, how many labelled rows they are worth, "
          "duplicates,\nconstant features, leaks, scales; for each source how far it is from the target and "
          "whether transfer is\nlikely to help. With --model: predicted against known shares bag by bag, an "
          "estimate of the accuracy on\nsingle rows from held-out bags, intervals of the weights. Verdicts "
          "come first. Labels are never read.",
          std::move(options),
          run_diagnose};
}

}  // namespace bagwise::cli
