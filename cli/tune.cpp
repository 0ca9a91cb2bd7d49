// bagwise tune: choose options, or a method, on held-out bags, and make one model of what was learnt.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "bagwise/comm/agree.h"
#include "bagwise/core/timing.h"
#include "bagwise/evaluate/arms.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/evaluate/tuning.h"
#include "bagwise/report/grid_file.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "bagwise/report/tuning_journal.h"
#include "bagwise/report/tuning_json.h"
#include "cli/choice.h"
#include "cli/interrupt.h"
#include "cli/load_tasks.h"
#include "cli/method_arguments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/suggest.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

constexpr const char* kAuto = "auto";

// Methods to tune: the one named, or all of them.
Result<std::vector<const Method*>> chosen_methods(const Arguments& arguments) {
  std::vector<const Method*> out;
  if (arguments.text("method") == kAuto) {
    for (const Method& method : methods()) out.push_back(&method);
    return out;
  }
  auto method = method_called(arguments.text("method"), {kAuto});
  if (!method) return method.error();
  out.push_back(*method);
  return out;
}

// --set option=v1,v2; options of no method here are an error.
Result<std::vector<GridAxis>> axes_of(const Arguments& arguments, const std::vector<const Method*>& chosen) {
  std::vector<GridAxis> out;
  std::set<std::string> known;
  for (const Method* method : chosen) {
    for (const OptionInfo& option : method->options) known.insert(option.name);
  }
  for (const std::string& text : arguments.texts("set")) {
    const auto equals = text.find('=');
    GridAxis axis{text.substr(0, equals), {}};
    if (equals == std::string::npos)
      return Error{fmt::format("--set {}: expected OPTION=VALUE[,VALUE]..., such as C=1,2,4", text)};
    if (!known.contains(axis.option)) {
      return Error{fmt::format(
          "--set {}: {} has no option \"{}\"; {}", text, arguments.text("method"), axis.option,
          suggestion(axis.option, {known.begin(), known.end()}, "bagwise methods lists the options"))};
    }
    if (arguments.has(axis.option))
      return Error{
          fmt::format("--set {}: --{} is given as well; expected one of the two", text, axis.option)};
    for (const GridAxis& other : out) {
      if (other.option == axis.option)
        return Error{
            fmt::format("--set {}: {} is set twice; expected its values in one list", text, axis.option)};
    }
    std::size_t from = equals + 1;
    while (true) {
      const auto comma = text.find(',', from);
      axis.values.push_back(text.substr(from, comma == std::string::npos ? comma : comma - from));
      if (axis.values.back().empty())
        return Error{fmt::format("--set {}: has an empty value; expected OPTION=VALUE[,VALUE]...", text)};
      if (comma == std::string::npos) break;
      from = comma + 1;
    }
    out.push_back(std::move(axis));
  }
  return out;
}

// The options given for the method that are the same in every setting. With several methods an option goes to
// those that have it.
Result<OptionTexts> fixed_options(const Arguments& arguments, const Method& method, bool alone) {
  if (alone) return method_options(arguments, method);
  OptionTexts out;
  for (const OptionInfo& option : method.options) {
    if (arguments.has(option.name))
      out[option.name] = fmt::format("{}", fmt::join(arguments.texts(option.name), ","));
  }
  return out;
}

Result<std::vector<Arm>> make_arms(const Arguments& arguments, const std::vector<const Method*>& chosen) {
  const auto axes = axes_of(arguments, chosen);
  if (!axes) return axes.error();
  std::optional<GridFile> file;
  const std::string grid = arguments.text("grid");
  if (!grid.empty()) {
    auto read = read_grid(grid);
    if (!read) return read.error();
    file = std::move(*read);
  }
  std::vector<Arm> arms;
  for (const Method* method : chosen) {
    const auto fixed = fixed_options(arguments, *method, chosen.size() == 1);
    if (!fixed) return fixed.error();
    std::vector<SettingsPath> paths = method->default_grid(arguments.texts("source").size());
    bool from_file = false;
    if (file) {
      for (const std::string& name : {method->name, std::string()}) {
        const auto own = file->by_method.find(name);
        if (own == file->by_method.end()) continue;
        paths = own->second;
        from_file = true;
        break;
      }
      if (!from_file && chosen.size() == 1) return Error{"has no grid for " + method->name, grid};
    }
    std::vector<GridAxis> values;
    for (const auto& [name, text] : *fixed) values.push_back({name, {text}});
    for (const GridAxis& axis : *axes) {
      if (has_option(*method, axis.option)) values.push_back(axis);
    }
    if (auto checked = check_size(settings_of(paths).size(), values); !checked) return checked.error();
    if (!values.empty()) paths = with_axes(paths, values);
    if (auto checked = check_grid(*method, paths); !checked) {
      Error error = checked.error();
      if (from_file) {
        error.file = grid;
        return error;
      }
      return told_by(*method, error, arguments.text("target"));
    }
    for (Arm& arm : arms_by_metric(*method, paths)) arms.push_back(std::move(arm));
  }
  return arms;
}

TuneOptions tune_options(const Arguments& arguments) {
  TuneOptions out;
  out.folds = arguments.whole("folds");
  out.repeats = arguments.whole("repeats");
  out.criterion = choice<Criterion>(arguments.text("criterion"));
  out.combine = choice<Combine>(arguments.text("combine"));
  out.search = choice<Search>(arguments.text("search"));
  out.tau = arguments.number("tau");
  return out;
}

std::string tuned_json(const Tuned& tuned, const std::vector<Arm>& arms, const Seconds& seconds,
                       const std::string& output) {
  Json out = to_json(tuned, arms, best_first(tuned));
  out["seconds"] = {{"read", seconds.read},
                    {"reduce", seconds.reduce},
                    {"choose", tuned.choose_seconds},
                    {"solve", seconds.solve},
                    {"total", seconds.total}};
  out["peak_memory_bytes"] = peak_memory_bytes();
  out["model"] = output;
  return to_text(out, 2) + "\n";
}

std::string combined_text(const Tuned& tuned) {
  const Model& model = tuned.fit.model;
  if (model.selection->combine == "best") return "the best setting, fitted to all bags";
  if (!model.committee)
    return fmt::format("one plane, the mean of {}", count_of(tuned.members, "plane", "planes"));
  return fmt::format("the average of {} of {}", count_of(tuned.members, "plane", "planes"),
                     count_of(model.committee->settings.size(), "setting", "settings"));
}

std::string tuned_text(const Tuned& tuned, const std::vector<Arm>& arms, const Seconds& seconds,
                       const std::string& output) {
  const Model& model = tuned.fit.model;
  const TrainingReport& report = model.training;
  const Selection& s = *model.selection;
  std::string out =
      fmt::format("{}: {} in {}, {}\n\n", model.method, count_of(report.instances, "instance", "instances"),
                  count_of(report.bags, "bag", "bags"), count_of(report.features, "feature", "features"));
  out += fmt::format("  tried         {} on {} of bags{}\n", count_of(s.settings, "setting", "settings"),
                     count_of(s.folds * s.repeats, "fold", "folds"),
                     s.search == "halving" ? ", the better third on each further fold" : "");
  out += fmt::format("  best          {}\n", printable(s.best));
  out += fmt::format("  {:<13} {:.4g} on the bags held out{}\n", s.criterion, s.value,
                     s.criterion == "likelihood" ? "" : fmt::format(", of {} rows", report.instances));
  out += fmt::format("  model         {}, in {}\n", combined_text(tuned), printable(output));
  out +=
      fmt::format("  time          {:.2f} s (reading {:.2f}, choosing {:.2f}), at most {:.0f} MB of memory\n",
                  seconds.total, seconds.read + seconds.reduce, tuned.choose_seconds,
                  static_cast<double>(peak_memory_bytes()) / 1e6);
  if (tuned.related) {
    out += fmt::format(
        "  transfer      the source's plane correlates by {:.2f} with the target's shares, by {:.2f} with "
        "its own:\n"
        "                settings with transfer weigh {:.2f} of 1\n",
        tuned.related->target, tuned.related->source, tuned.transfer_share);
  }
  const auto order = best_first(tuned);
  if (arms.size() > 1) {
    TextTable table({"method", ">settings", ">" + s.criterion, ">share of the model", "best setting"});
    for (std::size_t a = 0; a < arms.size(); ++a) {
      const auto best =
          std::find_if(order.begin(), order.end(), [&](std::size_t i) { return tuned.tried[i].arm == a; });
      const auto count =
          std::count_if(tuned.tried.begin(), tuned.tried.end(), [&](const Tried& t) { return t.arm == a; });
      table.add({arms[a].metric == "none" ? arms[a].method->name
                                          : fmt::format("{} ({})", arms[a].method->name, arms[a].metric),
                 fmt::format("{}", count), fmt::format("{:.4g}", tuned.tried[*best].value),
                 share(tuned.arm_shares[a]), setting_text(tuned.tried[*best].setting)});
    }
    out += fmt::format("\n{}", table.text(2));
  }
  constexpr std::size_t kShown = 10;
  TextTable table({">" + s.criterion, ">folds", "setting"});
  for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    const Tried& tried = tuned.tried[order[i]];
    table.add({fmt::format("{:.4g}", tried.value), fmt::format("{}", tried.folds),
               full_text(arms[tried.arm], tried.setting)});
  }
  out += fmt::format("\nthe {} best of {}\n\n{}", std::min(kShown, order.size()),
                     count_of(s.settings, "setting", "settings"), table.text(2));
  for (const std::string& warning : report.warnings)
    out += fmt::format("\nwarning: {}\n", printable(warning));
  return out;
}

Result<int> run_tune(const Arguments& arguments) {
  Stopwatch total;
  Seconds seconds;
  const auto chosen = chosen_methods(arguments);
  if (!chosen) return chosen.error();
  const Method& asked = *chosen->front();  // of several, one that takes sources
  TuneOptions options = tune_options(arguments);
  const auto arms = make_arms(arguments, *chosen);
  if (!arms) return arms.error();
  const auto files = task_files(arguments, asked);
  if (!files) return files.error();
  if (auto checked = check_sources_used(*arms); files->size() > 1 && !checked)
    return told_by(asked, checked.error(), files->back().table.name());
  const std::string output = arguments.text("output");
  std::vector<std::string> inputs = input_files(*files);
  if (arguments.has("grid")) inputs.push_back(arguments.text("grid"));
  std::vector<std::string> outputs = {output};
  if (leaves_room_for_report(output)) outputs.push_back(output + ".tuning");
  // Rank 0 alone writes; what it finds amiss is everybody's.
  Communicator* const ranks = arguments.comm();
  const bool writes = ranks == nullptr || ranks->rank() == 0;
  Result<void> writable;
  if (writes) writable = check_outputs(outputs, inputs);
  if (ranks != nullptr) writable = agree(*ranks, writable);
  if (!writable) return writable.error();
  if (auto checked = check_json_output(arguments.flag("json"), output, "-o"); !checked)
    return checked.error();

  std::vector<std::string> remarks;
  for (const TaskFiles& task : *files) {
    if (has_label_column(task.table, arguments))
      remarks.push_back(fmt::format("{} has a column \"{}\": it is ignored, labels are never used to choose",
                                    task.table.name(), arguments.text("label-column")));
  }
  if (!arguments.has("combine") && has_kernel(*arms)) {
    options.combine = Combine::kBest;
    remarks.emplace_back(
        "with a kernel the best setting is kept (--combine best): there are no planes to average");
  }

  Result<Tuned> tuned = Error{};
  options.ranks = ranks;
  {
    ProgressBar bar(arguments.flag("quiet") || silent());
    auto loaded = load_tasks(arguments, *files, {RowsNeeded::kAll, true}, bar.observer(), seconds);
    if (ranks != nullptr) {  // each of them reads it all
      const Result<void> read = loaded ? Result<void>() : Result<void>(loaded.error());
      if (auto agreed = agree(*ranks, read); !agreed) return agreed.error();
    }
    if (!loaded) return loaded.error();
    const std::vector<TrainingTask> tasks = training_tasks(*loaded);
    const Context context{.seed = arguments.whole("seed"),
                          .threads = static_cast<unsigned>(arguments.whole("threads")),
                          .observer = bar.observer()};
    std::unique_ptr<TuningJournal> journal;
    Result<void> journalled;
    if (writes && leaves_room_for_report(output)) {
      auto opened = TuningJournal::open(output + ".tuning", tuning_fingerprint(tasks, options, context.seed));
      if (!opened)
        journalled = opened.error();
      else
        journal = std::move(*opened);
    }
    if (ranks != nullptr) journalled = agree(*ranks, journalled);
    if (!journalled) return journalled.error();
    if (journal && journal->found() > 0)
      remarks.push_back(fmt::format("went on from {}.tuning, which had {} fits", output, journal->found()));
    tuned = tune(tasks, *arms, options, context, journal ? journal->memory() : Memory{});
    if (!tuned && interrupted() != 0) {
      const std::size_t kept = journal ? journal->found() + journal->added() : 0;
      if (journal && kept == 0) journal->remove();
      if (kept > 0) {
        remark(
            fmt::format("\nbagwise: stopped; {} fits are kept in {}.tuning: the same command goes on "
                        "from there\n",
                        kept, printable(output)));
      }
      return 0;
    }
    if (!tuned) {
      if (journal && journal->found() + journal->added() == 0) journal->remove();
      Error error = tuned.error();
      if (error.message.starts_with("folds = ") || error.message.starts_with("combine = ")) {
        error.message.insert(0, "--");
        return error;
      }
      return told_by(asked, error, files->back().table.name());
    }
    note_tables(arguments, *loaded, tuned->fit.model);
    if (interrupted() != 0) return 0;
    Result<void> saved;
    if (writes) saved = save_model(output, tuned->fit.model);
    if (ranks != nullptr) saved = agree(*ranks, saved);
    if (!saved) return saved.error();
    if (journal && !journal->fault().empty())
      remarks.push_back(
          fmt::format("{}.tuning could not be written to ({}): a stop would have lost what was done", output,
                      journal->fault()));
    if (journal) journal->remove();
  }
  seconds.solve = tuned->fit.solve_seconds;
  seconds.total = total.seconds();
  auto& warnings = tuned->fit.model.training.warnings;
  warnings.insert(warnings.begin(), remarks.begin(), remarks.end());
  if (arguments.flag("json")) {
    print(tuned_json(*tuned, *arms, seconds, output));
  } else if (!arguments.flag("quiet") && leaves_room_for_report(output)) {
    print(tuned_text(*tuned, *arms, seconds, output));
  }
  return tuned->fit.model.training.termination == "converged" ? 0 : 1;
}

}  // namespace

Command tune_command() {
  std::vector<Option> options = {
      {.name = "method",
       .value = "M",
       .help = fmt::format("what to tune: {}, or auto for all of them", fmt::join(method_names(), ", ")),
       .group = "Data",
       .required = true},
  };
  append(options, task_options());
  append(options,
         {{.name = "grid",
           .value = "FILE",
           .help = "settings to try, as JSON: {\"C\": [1, 2, 4], \"epsilon\": [0.01, 0.1]}",
           .shown = "the method's own grid",
           .group = "Choosing"},
          {.name = "set",
           .value = "OPTION=V1,V2",
           .help = "values to try for one option, in place of those of the grid; may be given several times",
           .shown = "none",
           .group = "Choosing",
           .repeatable = true},
          {.name = "folds",
           .value = "K",
           .help = "folds of bags: each setting is judged on bags it has not seen",
           .fallback = "5",
           .group = "Choosing",
           .kind = Kind::kWhole,
           .least = 2,
           .most = 1e6},
          {.name = "repeats",
           .value = "R",
           .help = "deal the folds anew so many times",
           .fallback = "1",
           .group = "Choosing",
           .kind = Kind::kWhole,
           .least = 1,
           .most = 1000},
          {.name = "criterion",
           .value = "C",
           .help = "miscount: rows too many or too few; soft-error: by probabilities; likelihood: binomial",
           .fallback = "miscount",
           .group = "Choosing",
           .kind = Kind::kChoice,
           .choices = choices_of<Criterion>()},
          {.name = "combine",
           .value = "W",
           .help = "average: a committee of all good settings; best: the best alone; plane: their mean plane",
           .fallback = "average",
           .group = "Choosing",
           .kind = Kind::kChoice,
           .choices = choices_of<Combine>()},
          {.name = "tau",
           .value = "T",
           .help = "a setting worse by T rows weighs 1/e as much in the average",
           .fallback = "4",
           .group = "Choosing",
           .kind = Kind::kNumber,
           .least = 1e-6},
          {.name = "search",
           .value = "S",
           .help = "grid: every setting on every fold; halving: only the better third on each further fold",
           .fallback = "grid",
           .group = "Choosing",
           .kind = Kind::kChoice,
           .choices = choices_of<Search>()}});
  append(options, common_options());
  return {
      "tune",
      "choose options on held-out bags, then fit",
      "--method M|auto --target T.csv --target-proportions P.csv -o model.json [OPTION]...",
      "Tries many settings without a single label: bags are dealt into folds, every setting is fitted\n"
      "without one fold and judged by the proportions of the bags it has not seen. The model is the average\n"
      "of the models of all good settings, or the best setting fitted to all bags (--combine best). Options\n"
      "of the method that are given here are the same in every setting. Ctrl-C stops cleanly and keeps what\n"
      "was done beside the model (.tuning): the same command goes on from there.",
      std::move(options),
      run_tune,
      true};
}

}  // namespace bagwise::cli
