// bagwise train: fit a model to bags and their proportions.
#include <fmt/format.h>

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "bagwise/core/timing.h"
#include "bagwise/methods/recalibrate.h"
#include "bagwise/methods/registry.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "bagwise/report/training_text.h"
#include "cli/checkpoint.h"
#include "cli/choice.h"
#include "cli/interrupt.h"
#include "cli/load_tasks.h"
#include "cli/method_arguments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

constexpr const char* kScale = "Large data";

std::string fit_json(const Model& model, const Seconds& seconds, const std::string& output) {
  Json out = Json::object();
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

// Everything a checkpoint depends on besides the files.
std::vector<std::string> words_of(const Arguments& arguments, const Method& method,
                                  const OptionTexts& options) {
  std::vector<std::string> out = {method.name};
  for (const auto& [name, text] : options) out.push_back(fmt::format("--{}={}", name, text));
  for (const char* name : {"bag-column", "label-column", "proportion-column", "delta-column", "id-column",
                           "features", "exclude", "one-hot", "missing", "seed", "rows", "solve-on"})
    out.push_back(
        fmt::format("--{}={} {}", name, arguments.text(name), fmt::join(arguments.texts(name), ",")));
  out.push_back(arguments.flag("align-features") ? "aligned" : "");
  return out;
}

// The folder of --checkpoint, if there is to be one.
Result<std::optional<CheckpointFolder>> open_checkpoint(const Arguments& arguments, const Method& method,
                                                        const OptionTexts& options,
                                                        const std::vector<TaskFiles>& files) {
  if (!arguments.has("checkpoint")) return std::optional<CheckpointFolder>();
  const Communicator* const comm = arguments.comm();
  auto folder = CheckpointFolder::open(
      arguments.text("checkpoint"), fingerprint_of(input_files(files), words_of(arguments, method, options)),
      comm == nullptr ? "" : fmt::format("rank-{}-of-{}", comm->rank(), comm->size()));
  if (!folder) return folder.error();
  return std::optional(std::move(*folder));
}

// The fit of this rank, or of one process that is alone. Ranks that have no sums have nothing to do.
Result<std::optional<Fit>> fit_here(const Arguments& arguments, const Method& method,
                                    const OptionTexts& options, std::list<LoadedTask>& tasks,
                                    CheckpointFolder* checkpoint, const Observer& observer) {
  const auto seen = training_tasks(tasks);
  const SumsOn where = tasks.back().where;
  Context context{.seed = arguments.whole("seed"),
                  .threads = static_cast<unsigned>(arguments.whole("threads")),
                  .observer = observer};
  context.checkpoint = checkpoint;
  if (arguments.comm() != nullptr) {
    if (where == SumsOn::kFirst && arguments.comm()->rank() != 0) return std::optional<Fit>();
    if (where != SumsOn::kFirst) context.comm = arguments.comm();
    context.spread_bags = where == SumsOn::kOwner;
  }
  auto fit = method.fit(seen, options, context);
  if (!fit) return fit.error();
  note_tables(arguments, tasks, fit->model);
  if (arguments.text("calibrate") == "bags") recalibrate(fit->model, seen, context.threads);
  return std::optional(std::move(*fit));
}

// Where the bags of one task are spread over the ranks, those of all have to be.
Result<void> check_places(const std::list<LoadedTask>& tasks) {
  for (const LoadedTask& task : tasks) {
    if (task.where == tasks.back().where) continue;
    return Error{
        "some tasks have so many bags that their solve is spread over the ranks, and others have "
        "not; say --solve-on all or --solve-on one"};
  }
  return {};
}

void report(const Arguments& arguments, const Model& model, const Seconds& seconds,
            const std::string& output) {
  if (arguments.flag("json")) {
    print(fit_json(model, seconds, output));
  } else if (!arguments.flag("quiet") && leaves_room_for_report(output)) {
    print(fit_text(model, seconds, output));
  }
}

// 0: reached what was asked; else 1, and a line that says why.
int status_of(const TrainingReport& training) {
  if (training.termination == "converged") return 0;
  const auto& warnings = training.warnings;
  remark(fmt::format(
      "bagwise: the fit ended by {} before it reached what was asked{}; the model is written and "
      "says so\n",
      training.termination, warnings.empty() ? "" : fmt::format(" ({})", printable(warnings.back()))));
  return 1;
}

// The status of rank 0, on every rank.
int status_for_all(Communicator* comm, int mine) {
  if (comm == nullptr) return mine;
  double status = comm->rank() == 0 ? mine : 0;
  comm->sum({&status, 1});
  return static_cast<int>(status);
}

Result<int> run_train(const Arguments& arguments) {
  Stopwatch total;
  Seconds seconds;
  Communicator* const comm = arguments.comm();
  const auto method = method_called(arguments.text("method"));
  if (!method) return method.error();
  const auto options = method_options(arguments, **method);
  if (!options) return options.error();
  const auto files = together(comm, task_files(arguments, **method));
  if (!files) return files.error();
  const std::string target = files->back().table.name();
  if (auto checked = (*method)->check_sources(*options); files->size() > 1 && !checked)
    return told_by(**method, checked.error(), target);
  const std::string output = arguments.text("output");
  const bool writes = comm == nullptr || comm->rank() == 0;
  if (auto checked = together(comm, writes ? check_outputs({output}, input_files(*files)) : Result<void>());
      !checked)
    return checked.error();
  if (auto checked = check_json_output(arguments.flag("json"), output, "-o"); !checked)
    return checked.error();
  auto checkpoint = together(comm, open_checkpoint(arguments, **method, *options, *files));
  if (!checkpoint) return checkpoint.error();
  CheckpointFolder* const kept = *checkpoint ? &**checkpoint : nullptr;

  std::optional<Fit> fit;
  {
    ProgressBar bar(arguments.flag("quiet") || silent());
    Wanted wanted{
        .rows = arguments.text("calibrate") == "bags" ? RowsNeeded::kAll : (*method)->rows_needed(*options),
        .moments = wants_scaling(**method, *options),
        .comm = comm,
        .solve_on = choice<SolveOn>(arguments.text("solve-on")),
        .checkpoint = kept};
    auto tasks = load_tasks(arguments, *files, wanted, bar.observer(), seconds);
    if (!tasks) return tasks.error();
    if (auto checked = check_places(*tasks); !checked) return checked.error();
    auto fitted = fit_here(arguments, **method, *options, *tasks, kept, bar.observer());
    if (!fitted && interrupted() != 0) return 0;
    if (!fitted) fitted = told_by(**method, fitted.error(), target);
    fitted = together(comm, std::move(fitted));
    if (!fitted) return fitted.error();
    fit = std::move(*fitted);
  }
  if (interrupted() != 0) return 0;  // main turns this into the signal's status; nothing is written
  Result<void> saved;
  if (writes) saved = save_model(output, fit->model);
  if (saved = together(comm, saved); !saved) return saved.error();
  if (kept != nullptr) {
    if (auto removed = together(comm, kept->remove()); !removed) return removed.error();
  }
  if (!writes) return status_for_all(comm, 0);

  seconds.solve = fit->solve_seconds;
  seconds.first_solve = fit->first_solve_seconds;
  seconds.total = total.seconds();
  report(arguments, fit->model, seconds, output);
  return status_for_all(comm, status_of(fit->model.training));
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
  append(options, task_or_sums_options());
  options.push_back({.name = "calibrate",
                     .value = "none|bags",
                     .help = "probabilities as the method has them, or by a sigmoid refitted on the bags' "
                             "likelihood (reads single rows)",
                     .fallback = "none",
                     .group = "Data",
                     .kind = Kind::kChoice,
                     .choices = {"none", "bags"}});
  append(
      options,
      {{.name = "rows",
        .value = "auto|memory|stream",
        .help = "of methods that pass over the rows (mean-map, tl-llp literal): hold them, or read them "
                "again for every pass",
        .fallback = "auto",
        .shown = "stream where the files have more than 1 GB",
        .group = kScale,
        .kind = Kind::kChoice,
        .choices = {"auto", "memory", "stream"}},
       {.name = "solve-on",
        .value = "auto|one|all",
        .help = "under mpirun: bag means are solved on one rank, or each rank keeps its own bags",
        .fallback = "auto",
        .shown = "all where the means take more than 1 GB",
        .group = kScale,
        .kind = Kind::kChoice,
        .choices = {"auto", "one", "all"}},
       {.name = "checkpoint",
        .value = "DIR",
        .help = "keep the sums, and the state of tl-llp and mean-map after every round, in this folder; the "
                "same command then goes on from there. Taken away when the model is written",
        .shown = "none",
        .group = kScale}});
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
      run_train,
      true};
}

}  // namespace bagwise::cli
