// bagwise generate: built-in source/target data with a known truth.
#include <fmt/format.h>

#include <filesystem>

#include "bagwise/core/atomic_file.h"
#include "bagwise/data/generate.h"
#include "bagwise/data/write_table.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

GeneratorOptions generator_options(const Arguments& arguments) {
  GeneratorOptions out =
      generator_preset(choice<GeneratorKind>(arguments.text("kind")),
                       choice<GeneratorPreset>(arguments.text("preset")), arguments.whole("seed"));
  if (arguments.has("source-rows")) out.source_rows = arguments.whole("source-rows");
  if (arguments.has("target-rows")) out.target_rows = arguments.whole("target-rows");
  if (arguments.has("test-rows")) out.test_rows = arguments.whole("test-rows");
  if (arguments.has("features")) out.features = arguments.whole("features");
  if (arguments.has("best-accuracy")) out.best_accuracy = arguments.number("best-accuracy");
  if (arguments.has("angle")) out.angle_degrees = arguments.number("angle");
  return out;
}

Json truth_of(const Arguments& arguments, const GeneratedData& data) {
  return {{"kind", arguments.text("kind")},
          {"preset", arguments.text("preset")},
          {"seed", arguments.whole("seed")},
          {"best_accuracy", data.best_accuracy},
          {"best_accuracy_how", data.best_accuracy_how},
          {"angle_degrees", data.angle_degrees},
          {"features", data.target.feature_names.size()},
          {"source_rows", data.source.rows()},
          {"target_rows", data.target.rows()},
          {"test_rows", data.test.rows()}};
}

Result<int> run_generate(const Arguments& arguments) {
  const GeneratorOptions options = generator_options(arguments);
  if (auto checked = check(options); !checked) return checked.error();
  const std::filesystem::path folder = arguments.text("out");
  if (folder == "-") return Error{"cannot write to standard output; expected the name of a folder", "-"};
  MadeFolders made_folder;
  if (auto created = made_folder.create(folder); !created) return created.error();
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const std::vector<std::string> files = {file("source.csv"), file("target.csv"), file("test.csv"),
                                          file("truth.json")};
  if (auto checked = check_outputs(files, {}); !checked) return checked.error();

  const auto data = generate(options);
  if (!data) return data.error();
  FileGroup made;
  const Dataset* tables[] = {&data->source, &data->target, &data->test};
  for (std::size_t i = 0; i < 3; ++i) {
    if (interrupted() != 0) return 0;
    if (auto written = write_table(files[i], *tables[i], &made); !written) return written.error();
  }
  Json truth = truth_of(arguments, *data);
  if (auto written = write_file(files[3], to_text(truth, 2) + "\n", &made); !written) return written.error();
  if (auto published = made.publish(); !published) return published.error();
  if (arguments.flag("json")) {
    truth["files"] = files;
    print(to_text(truth, 2) + "\n");
    return 0;
  }
  if (arguments.flag("quiet")) return 0;
  TextTable table({"file", ">rows", "what"});
  table.add({files[0], fmt::format("{}", data->source.rows()), "labelled rows of the source task"});
  table.add({files[1], fmt::format("{}", data->target.rows()),
             "labelled rows of the target task, to make bags of"});
  table.add({files[2], fmt::format("{}", data->test.rows()), "labelled rows of the target task, to test on"});
  table.add({files[3], "", "the truth about them"});
  print(table.text());
  print(fmt::format("\n{} features; angle between the tasks {:.1f} degrees; best possible accuracy {} ({})\n",
                    data->target.feature_names.size(), data->angle_degrees, share(data->best_accuracy),
                    data->best_accuracy_how));
  return 0;
}

}  // namespace

Command generate_command() {
  const GeneratorOptions preset;
  const auto number = [](auto value) { return fmt::format("{}", value); };
  const char* overrides = "In place of what the preset says";
  std::vector<Option> options = {
      {.name = "out",
       .value = "DIR",
       .help = "the folder for the files; made if it is not there",
       .required = true},
      {.name = "kind",
       .value = "documents|gaussian",
       .help = "gaussian: two clouds per task, best accuracy exact. documents: word counts from a hierarchy "
               "of topics",
       .fallback = "gaussian",
       .kind = Kind::kChoice,
       .choices = {"documents", "gaussian"}},
      {.name = "preset",
       .value = "related|unrelated",
       .help = "how near the tasks are: 20 or 90 degrees between their true planes",
       .fallback = "related",
       .kind = Kind::kChoice,
       .choices = {"related", "unrelated"}},
      seed_option(),
      quiet_option(),
      json_option(),
      {.name = "source-rows",
       .value = "N",
       .help = "rows of the source",
       .shown = number(preset.source_rows),
       .group = overrides,
       .kind = Kind::kWhole,
       .least = 1,
       .most = kMostGeneratedRows},
      {.name = "target-rows",
       .value = "N",
       .help = "rows of the target",
       .shown = number(preset.target_rows),
       .group = overrides,
       .kind = Kind::kWhole,
       .least = 1,
       .most = kMostGeneratedRows},
      {.name = "test-rows",
       .value = "N",
       .help = "rows of the test set",
       .shown = number(preset.test_rows),
       .group = overrides,
       .kind = Kind::kWhole,
       .least = 1,
       .most = kMostGeneratedRows},
      {.name = "features",
       .value = "N",
       .help = "features of each row",
       .shown = number(preset.features),
       .group = overrides,
       .kind = Kind::kWhole,
       .least = 2,
       .most = kMostGeneratedFeatures},
      {.name = "best-accuracy",
       .value = "X",
       .help = "accuracy of the best possible classifier",
       .shown = number(preset.best_accuracy),
       .group = overrides,
       .kind = Kind::kNumber,
       .least = 0.5,
       .most = 1},
      {.name = "angle",
       .value = "DEGREES",
       .help = "between the true planes of the tasks",
       .shown = "20 or 90",
       .group = overrides,
       .kind = Kind::kNumber,
       .least = 0,
       .most = 180},
  };
  return {"generate",
          "make source and target data with a known truth",
          "--out DIR [--kind documents|gaussian] [--preset related|unrelated] [--seed N] [OPTION]...",
          "Writes source.csv, target.csv and test.csv (labelled, no bags; test is of the target task) and "
          "truth.json\n"
          "(best possible accuracy, angle between the tasks). The same seed gives the same bytes on every "
          "machine.",
          std::move(options),
          run_generate};
}

}  // namespace bagwise::cli
