// bagwise train: fit a model to bags and their proportions.
#include <fmt/format.h>

#include <cstdio>

#include "bagwise/core/timing.h"
#include "bagwise/methods/recalibrate.h"
#include "bagwise/methods/registry.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "bagwise/report/training_text.h"
#include "cli/interrupt.h"
#include "cli/load_tasks.h"
#include "cli/method_arguments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

std::string fit_json(const Model& model, const Seconds& seconds, const std::string& output) {
  Json out;
  out["method"] = model.method;
  out.update(to_json(model.training));
  out["options"] = to_json(model.options);
  out["seconds"] = {
      {"read", seconds.read}, {"reduce", seconds.reduce}, {"solve", seconds.solve}, {"total", seconds.total}};
  if (seconds.first_solve > 0) out["seconds"]["first_solve"] = seconds.first_solve;
  out["peak_memory_bytes"] = peak_memory_bytes();
  out["model"] = output;
  return to_text(out, 2) + "\n";
}

std::string fit_text(const Model& model, const Seconds& seconds, const std::string& output) {
  const TrainingReport& report = model.training;
  std::string out =
      fmt::format("{}: {} in {}, {}\n\n", model.method, count_of(report.instances, "instance", "instances"),
                  count_of(report.bags, "bag", "bags"), count_of(report.features, "feature", "features"));
  const bool in_rounds = report.objective_history.size() > 1;
  const std::string rounds = count_of(static_cast<std::uint64_t>(report.rounds), "round", "rounds");
  out += fmt::format("  objective     {:.9g}", report.objective);
  out += in_rounds ? fmt::format(" after {} ({})\n", rounds, report.termination) : "\n";
  if (report.relative_gap) {
    out +=
        fmt::format("  relative gap  {:.2g} ({})\n", *report.relative_gap,
                    in_rounds || report.convex_objective ? "of the last convex problem" : report.termination);
  } else if (!in_rounds) {
    out += fmt::format("  ended         {} after {}\n", report.termination, rounds);
  }
  if (const std::string line = uncertainty_line(report); !line.empty())
    out += fmt::format("  uncertainty   {}\n", line);
  if (const std::string line = starts_line(report); !line.empty())
    out += fmt::format("  starts        {}\n", line);
  if (const std::string line = transfer_line(report); !line.empty())
    out += fmt::format("  transfer      {}\n", line);
  out +=
      fmt::format("  time          {:.2f} s (reading {:.2f}, solving {:.2f}), at most {:.0f} MB of memory\n",
                  seconds.total, seconds.read + seconds.reduce, seconds.solve,
                  static_cast<double>(peak_memory_bytes()) / 1e6);
  out += fmt::format("  model         {}\n", printable(output));
  for (const std::string& warning : report.warnings)
    out += fmt::format("\nwarning: {}\n", printable(warning));
  return out;
}

Result<int> run_train(const Arguments& arguments) {
  Stopwatch total;
  Seconds seconds;
  const auto method = method_called(arguments.text("method"));
  if (!method) return method.error();
  const auto options = method_options(arguments, **method);
  if (!options) return options.error();
  const auto files = task_files(arguments, **method);
  if (!files) return files.error();
  if (auto checked = (*method)->check_sources(*options); files->size() > 1 && !checked)
    return told_by(**method, checked.error(), files->back().table);
  const std::string output = arguments.text("output");
  if (auto checked = check_outputs({output}, input_files(*files)); !checked) return checked.error();
  if (auto checked = check_json_output(arguments.flag("json"), output, "-o"); !checked)
    return checked.error();

  const bool by_bags = arguments.text("calibrate") == "bags";
  Result<Fit> fit = Error{};
  {
    ProgressBar bar(arguments.flag("quiet"));
    auto tasks =
        load_tasks(arguments, *files,
                   {by_bags || (*method)->needs_instances(*options), wants_scaling(**method, *options)},
                   bar.observer(), seconds);
    if (!tasks) return tasks.error();
    const auto seen = training_tasks(*tasks);
    const auto threads = static_cast<unsigned>(arguments.whole("threads"));
    fit = (*method)->fit(seen, *options,
                         {.seed = arguments.whole("seed"), .threads = threads, .observer = bar.observer()});
    if (!fit && interrupted() != 0) return 0;
    if (!fit) return told_by(**method, fit.error(), files->back().table);
    note_tables(arguments, *tasks, fit->model);
    if (by_bags) recalibrate(fit->model, seen, threads);
  }
  if (interrupted() != 0) return 0;  // main turns this into the signal's status; nothing is written
  if (auto saved = save_model(output, fit->model); !saved) return saved.error();

  seconds.solve = fit->solve_seconds;
  seconds.first_solve = fit->first_solve_seconds;
  seconds.total = total.seconds();
  const Model& model = fit->model;
  if (arguments.flag("json")) {
    print(fit_json(model, seconds, output));
  } else if (!arguments.flag("quiet") && leaves_room_for_report(output)) {
    print(fit_text(model, seconds, output));
  }
  if (model.training.termination == "converged") return 0;
  const auto& warnings = model.training.warnings;
  std::fputs(
      fmt::format("bagwise: the fit ended by {} before it reached what was asked{}; the model is written and "
                  "says so\n",
                  model.training.termination,
                  warnings.empty() ? "" : fmt::format(" ({})", printable(warnings.back())))
          .c_str(),
      stderr);
  return 1;
}

}  // namespace

Command train_command() {
  std::vector<Option> options = {
      {.name = "method",
       .value = "M",
       .help = fmt::format("how to learn: {}", fmt::join(method_names(), ", ")),
       .group = "Data",
       .required = true},
  };
  append(options, task_options());
  options.push_back({.name = "calibrate",
                     .value = "none|bags",
                     .help = "probabilities as the method has them, or by a sigmoid refitted on the bags' "
                             "likelihood (reads single rows)",
                     .fallback = "none",
                     .group = "Data",
                     .kind = Kind::kChoice,
                     .choices = {"none", "bags"}});
  append(options, common_options());
  return {
      "train",
      "fit a model to bags and their proportions",
      "--method M --target T.csv --target-proportions P.csv -o model.json [OPTION]...",
      "Reads the instances once, keeping sums per bag only (unless the method needs single rows), fits, and\n"
      "writes the model. Labels are never read. Exit status 1: the fit ended before it reached what was "
      "asked\n"
      "for (the gap; the tolerance within max-rounds); the model is written all the same and says so. "
      "Ctrl-C\n"
      "stops cleanly and writes nothing. A --X-source is given once for all sources or once per source.",
      std::move(options),
      run_train};
}

}  // namespace bagwise::cli
