#include "cli/report_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "bagwise/core/version.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/model_page.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/diagnosing.h"
#include "cli/method_arguments.h"
#include "cli/output.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

constexpr const char* kGroup = "A model's page";

// What means nothing without the data.
std::vector<Option> data_options() {
  std::vector<Option> options = diagnosed_data_options();
  append(options, diagnosis_options(kGroup));
  append(options, feature_options());
  append(options, column_options());
  return options;
}

Result<void> check_data_given(const Arguments& arguments) {
  if (arguments.has("target")) return {};
  for (const Option& option : data_options()) {
    if (arguments.has(option.name))
      return Error{fmt::format("--{} is about the data of a model: give them with --target", option.name)};
  }
  return {};
}

}  // namespace

std::vector<Option> model_report_options() {
  std::vector<Option> options = data_options();
  for (Option& option : options) {
    if (option.group == "Data") option.group = "Data of a model, for its proportions and diagnosis";
    if (option.name != "target") continue;
    option.required = false;
    option.help = "the instances the model was trained on";
    option.shown = "none: what the model file tells";
  }
  append(options, {{.name = "top",
                    .value = "N",
                    .help = "how many weights of each task to draw, the largest first",
                    .fallback = "20",
                    .group = kGroup,
                    .kind = Kind::kWhole,
                    .most = 1000},
                   {.name = "worst",
                    .value = "N",
                    .help = "how many bags to show, those that fit worst",
                    .fallback = "10",
                    .group = kGroup,
                    .kind = Kind::kWhole,
                    .most = 1000}});
  append(options, {seed_option(), threads_option()});
  return options;
}

Result<int> run_model_report(const Arguments& arguments) {
  const std::string input = arguments.text("input"), output = arguments.text("output");
  if (auto checked = check_data_given(arguments); !checked) return checked.error();
  auto loaded = load_model(input);
  if (!loaded) return loaded.error();
  const std::optional<Model> model = std::move(*loaded);

  std::vector<std::string> inputs = {input};
  std::vector<TaskFiles> files;
  if (arguments.has("target")) {
    auto found = diagnosed_files(arguments, model, input);
    if (!found) return found.error();
    files = std::move(*found);
    for (std::string& file : input_files(files)) inputs.push_back(std::move(file));
  }
  if (!is_standard_output(output)) {
    if (auto checked = check_outputs({output}, inputs); !checked) return checked.error();
  }

  std::optional<Diagnosis> diagnosis;
  if (!files.empty()) {
    auto diagnosed = diagnose(arguments, files, model);
    if (!diagnosed) return diagnosed.error();
    if (!*diagnosed) return 0;
    diagnosis = std::move(*diagnosed);
  }
  // The page may go to others: where the file lies is nobody's business.
  const std::string name = std::filesystem::path(input).filename().string();
  const std::string page = model_page(
      *model, diagnosis, {.file = name, .top = arguments.whole("top"), .worst = arguments.whole("worst")});
  auto sink = Sink::open(output);
  if (!sink) return sink.error();
  if (auto done = sink->write(page); !done) return done.error();
  if (auto done = sink->close(); !done) return done.error();
  if (arguments.flag("json")) {
    const Json out = {{"method", model->method}, {"files", {output}}, {"version", kVersion}};
    print(to_text(out, 2) + "\n");
  } else if (!arguments.flag("quiet") && leaves_room_for_report(output)) {
    print(
        fmt::format("written: {}, the page of a model of {}\n", printable(output), printable(model->method)));
  }
  return 0;
}

}  // namespace bagwise::cli
