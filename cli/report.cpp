// bagwise report: what came out of an experiment, or of training, as one page.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/version.h"
#include "bagwise/report/experiment_figures.h"
#include "bagwise/report/experiment_page.h"
#include "bagwise/report/experiment_tables.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/report_model.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

struct OutputFile {
  std::string path, bytes;
};

// Everything --tables writes: a table as Markdown and as CSV, a figure as SVG.
std::vector<OutputFile> table_files(const std::string& folder, const ExperimentScores& scores) {
  std::vector<OutputFile> out;
  const auto add = [&](const std::string& name, const std::string& bytes) {
    out.push_back({(std::filesystem::path(folder) / name).string(), bytes});
  };
  for (const ReportTable& table : experiment_tables(scores)) {
    add(table.name + ".md", to_markdown(table));
    add(table.name + ".csv", to_csv(table));
  }
  for (const ReportFigure& figure : experiment_figures(scores)) add(figure.name + ".svg", figure.svg);
  return out;
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json summary_json(const ExperimentScores& scores, const std::vector<std::string>& files) {
  const ExperimentPlan& plan = scores.plan();
  Json out{
      {"name", plan.name},       {"title", plan.title},          {"cells_done", scores.done},
      {"cells", scores.planned}, {"cases", scores.cases.size()}, {"cases_compared", scores.common.size()}};
  Json methods = Json::array();
  for (const MethodScore& score : scores.methods) {
    Json method{{"method", plan.methods[score.method].name},
                {"title", plan.methods[score.method].title},
                {"accuracy", score.accuracy.mean},
                {"standard_error", number_or_null(score.accuracy.error)},
                {"best", score.best},
                {"tied", score.shared},
                {"mean_rank", score.rank}};
    if (score.published) method["published"] = *score.published;
    methods.push_back(std::move(method));
  }
  out["methods"] = std::move(methods);
  Json pairs = Json::array();
  for (std::size_t i = 0; i < scores.methods.size(); ++i) {
    for (std::size_t j = i + 1; j < scores.methods.size(); ++j) {
      const std::size_t a = scores.methods[i].method, b = scores.methods[j].method;
      const MethodPair pair = compare_methods(scores, a, b);
      const PairedDifference& over = pair.over_cases;
      pairs.push_back(
          {{"method", plan.methods[a].name},
           {"less", plan.methods[b].name},
           {"difference", over.difference.mean},
           {"standard_error", over.difference.count < 2 ? Json(nullptr) : Json(over.difference.error())},
           {"above", over.wins},
           {"level", over.ties},
           {"below", over.losses},
           {"clearly_above", pair.clearly_above},
           {"clearly_below", pair.clearly_below}});
    }
  }
  out["pairs"] = std::move(pairs);
  if (const auto& tests = scores.ranks.tests) {
    out["friedman"] = {{"chi_square", tests->friedman}, {"p", tests->friedman_p}};
    // Where all cases rank alike there is no such value.
    if (std::isfinite(tests->iman_davenport))
      out["iman_davenport"] = {{"F", tests->iman_davenport}, {"p", tests->iman_davenport_p}};
    out["critical_difference"] = tests->critical_difference;
  }
  out["files"] = files;
  out["version"] = kVersion;
  return out;
}

std::string summary_text(const ExperimentScores& scores, const std::vector<std::string>& files) {
  std::string out;
  if (!scores.methods.empty()) {
    TextTable table({"method", ">accuracy, %", ">standard error", ">best in", ">mean rank"});
    for (const MethodScore& score : scores.methods) {
      table.add({scores.title(score.method), per_cent(score.accuracy.mean),
                 score.accuracy.error ? per_cent(*score.accuracy.error) : "", fmt::format("{}", score.best),
                 fmt::format("{:.2f}", score.rank)});
    }
    out += table.text() + "\n";
  }
  out += fmt::format("{} of {} cells done; methods are compared on {} of {}\n", scores.done, scores.planned,
                     scores.common.size(), count_of(scores.cases.size(), "case", "cases"));
  if (files.size() == 1) return out + fmt::format("written: {}\n", printable(files[0]));
  return out + fmt::format("written: {} and {} in {}\n", printable(files[0]),
                           count_of(files.size() - 1, "file", "files"),
                           printable(std::filesystem::path(files[1]).parent_path().string()));
}

Result<void> check_report_outputs(const std::vector<OutputFile>& files, const std::string& folder,
                                  const std::string& output) {
  std::vector<std::string> outputs, inputs;
  for (const OutputFile& file : files) outputs.push_back(file.path);
  if (!is_standard_output(output)) outputs.push_back(output);
  for (const char* name : {"experiment.json", "results.jsonl", "timings.jsonl"})
    inputs.push_back((std::filesystem::path(folder) / name).string());
  return check_outputs(outputs, inputs);
}

Result<int> report_experiment(const Arguments& arguments, const std::string& folder) {
  const std::string output = arguments.text("output"), tables = arguments.text("tables");
  for (const Option& option : model_report_options()) {
    if (arguments.has(option.name))
      return Error{fmt::format("--{} is about a model, and this is the folder of an experiment", option.name),
                   folder};
  }
  const auto run = read_experiment(folder);
  if (!run) return run.error();
  if (run->results.empty())
    return Error{"has no results yet; expected at least one cell in results.jsonl", folder};
  const ExperimentScores scores = score_experiment(*run);

  MadeFolders folders;
  std::vector<OutputFile> files;
  if (!tables.empty()) {
    if (auto made = folders.create(tables); !made) return made.error();
    files = table_files(tables, scores);
  }
  if (auto checked = check_report_outputs(files, folder, output); !checked) return checked.error();
  FileGroup made;
  std::vector<std::string> written = {output};
  for (const OutputFile& file : files) {
    if (interrupted() != 0) return 0;
    if (auto done = write_file(file.path, file.bytes, &made); !done) return done.error();
    written.push_back(file.path);
  }
  auto sink = Sink::open(output);
  if (!sink) return sink.error();
  if (auto done = sink->write(experiment_page(scores)); !done) return done.error();
  if (auto done = sink->close(&made); !done) return done.error();
  if (auto done = made.publish(); !done) return done.error();
  if (arguments.flag("json")) {
    print(to_text(summary_json(scores, written), 2) + "\n");
  } else if (!arguments.flag("quiet") && leaves_room_for_report(output)) {
    print(summary_text(scores, written));
  }
  return 0;
}

Result<int> run_report(const Arguments& arguments) {
  const std::string input = arguments.text("input");
  if (auto checked = check_json_output(arguments.flag("json"), arguments.text("output"), "-o"); !checked)
    return checked.error();
  std::error_code fault;
  const auto status = std::filesystem::status(input, fault);
  if (!std::filesystem::exists(status))
    return Error{"there is no such file or folder; expected the folder of an experiment or a model", input};
  if (std::filesystem::is_directory(status)) return report_experiment(arguments, input);
  if (arguments.has("tables"))
    return Error{"--tables is for the folder of an experiment, and this is a file", input};
  return run_model_report(arguments);
}

}  // namespace

Command report_command() {
  std::vector<Option> options = {
      {.name = "input",
       .value = "DIR|model.json",
       .help = "the folder that bagwise experiment wrote, finished or not; or a model",
       .required = true,
       .positional = true},
      {.name = "output",
       .value = "FILE",
       .help = "the page; - for standard output",
       .letter = 'o',
       .required = true},
      {.name = "tables",
       .value = "DIR",
       .help = "also write the tables as Markdown and CSV, the figures as SVG, into this folder",
       .shown = "none",
       .group = "An experiment's page"},
      quiet_option(),
      json_option()};
  append(options, model_report_options());
  return {
      "report",
      "make a page of tables and charts of an experiment or a model",
      "DIR|model.json -o report.html [--tables DIR] [OPTION]...",
      "The page is one file that needs no network. Of an experiment: accuracies beside those published, "
      "ranks\nwith a critical-difference diagram, pairs of methods, noise, times, each with its data as CSV. "
      "Methods are\ncompared on the cases that all of them have finished; a run under way may be reported "
      "too. Of a model: how it\nfits its bags, its weights shared and own, and with --target its diagnosis.",
      std::move(options),
      run_report};
}

}  // namespace bagwise::cli
