// bagwise diagnose: what bags can teach, and how good a model is, without a single label.
#include <fmt/format.h>

#include "bagwise/core/version.h"
#include "bagwise/report/model_file.h"
#include "cli/diagnosis_text.h"
#include "cli/interrupt.h"
#include "cli/load_tasks.h"
#include "cli/method_arguments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

std::vector<TaskDiagnosis> diagnose_tasks(const std::vector<TrainingTask>& tasks,
                                          const DiagnosisOptions& options) {
  std::vector<TaskDiagnosis> out;
  for (const TrainingTask& task : tasks)
    out.push_back(diagnose_task(task.name, *task.rows, task.reduced, options));
  return out;
}

std::vector<TransferDiagnosis> diagnose_sources(const std::vector<TrainingTask>& tasks,
                                                const DiagnosisOptions& options) {
  std::vector<TransferDiagnosis> out;
  const TrainingTask& target = tasks.back();
  for (std::size_t t = 0; t + 1 < tasks.size(); ++t) {
    out.push_back(diagnose_transfer(tasks[t].name, *tasks[t].rows, tasks[t].reduced, *target.rows,
                                    target.reduced, options));
  }
  return out;
}

// The method whose tasks these are: the model's, or one that takes sources.
Result<const Method*> method_of(const std::optional<Model>& model, const std::string& file) {
  const bool averages = model && model->committee;  // perhaps over methods: "auto"
  const Method* method = find_method(model && !averages ? model->method : "tl-llp");
  if (method != nullptr) return method;
  return Error{fmt::format("there is no method \"{}\" in this program", model->method), file};
}

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
  const auto method = method_of(model, model_file);
  if (!method) return method.error();
  const auto files = task_files(arguments, **method);
  if (!files) return files.error();
  if (model && !may_be_of(*model, files->size())) {
    const std::size_t sources = model->tasks.size() - 1;
    return Error{fmt::format("was trained with {} and {} given; expected the data it was trained on",
                             sources > 0          ? fmt::format("{} source(s)", sources)
                             : files->size() == 1 ? "sources"
                                                  : "no source",
                             files->size() == 1 ? "none is" : fmt::format("{} are", files->size() - 1)),
                 model_file};
  }

  Diagnosis diagnosis;
  for (const TaskFiles& task : *files) {
    if (has_label_column(task.table, arguments))
      diagnosis.remarks.push_back(fmt::format("{} has labels; they are not looked at", task.table));
  }
  {
    ProgressBar bar(arguments.flag("quiet"));
    Seconds seconds;
    auto loaded = load_tasks(arguments, *files, {.rows = true, .moments = true, .leaks = true},
                             bar.observer(), seconds);
    if (!loaded) return loaded.error();
    const std::vector<TrainingTask> tasks = training_tasks(*loaded);
    const auto threads = static_cast<unsigned>(arguments.whole("threads"));
    const DiagnosisOptions options{.seed = arguments.whole("seed"), .threads = threads};
    diagnosis.tasks = diagnose_tasks(tasks, options);
    if (interrupted() != 0) return 0;
    diagnosis.transfers = diagnose_sources(tasks, options);
    if (model) {
      auto judged = diagnose_model(*model, tasks,
                                   {.seed = options.seed,
                                    .threads = threads,
                                    .folds = arguments.whole("folds"),
                                    .draws = arguments.whole("bootstrap")},
                                   bar.observer());
      if (interrupted() != 0) return 0;  // main turns this into the signal's status
      if (!judged) {
        Error error = judged.error();
        if (error.file.empty()) error.file = files->back().table;
        return error;
      }
      diagnosis.model = std::move(*judged);
    }
  }
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
  std::vector<Option> options = task_options();
  std::erase_if(options, [](const Option& o) { return o.name == "output" || o.name == "allow-leak"; });
  append(
      options,
      {{.name = "model",
        .value = "FILE",
        .help = "a model that was trained on these data, with the same options for them",
        .shown = "none",
        .group = "After training"},
       {.name = "folds",
        .value = "K",
        .help = "into how many parts the bags are split, to judge each by a fit to the others; 0: not at all",
        .fallback = "10",
        .group = "After training",
        .kind = Kind::kWhole,
        .most = 1000},
       {.name = "bootstrap",
        .value = "B",
        .help = "fits to bags drawn with replacement, for the intervals of the weights; 0: none",
        .fallback = "200",
        .group = "After training",
        .kind = Kind::kWhole,
        .most = 100000},
       {.name = "worst",
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
