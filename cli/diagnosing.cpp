#include "cli/diagnosing.h"

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/method_arguments.h"
#include "cli/progress.h"

namespace bagwise::cli {
namespace {

// The method whose tasks these are: the model's, or one that takes sources.
Result<const Method*> method_of(const std::optional<Model>& model, const std::string& file) {
  const bool averages = model && model->committee;  // perhaps over methods: "auto"
  const Method* method = find_method(model && !averages ? model->method : "tl-llp");
  if (method != nullptr) return method;
  return Error{fmt::format("there is no method \"{}\" in this program", model->method), file};
}

}  // namespace

std::vector<Option> diagnosis_options(const std::string& group) {
  return {
      {.name = "folds",
       .value = "K",
       .help = "into how many parts the bags are split, to judge each by a fit to the others; 0: not at all",
       .fallback = "10",
       .group = group,
       .kind = Kind::kWhole,
       .most = 1000},
      {.name = "bootstrap",
       .value = "B",
       .help = "fits to bags drawn with replacement, for the intervals of the weights; 0: none",
       .fallback = "200",
       .group = group,
       .kind = Kind::kWhole,
       .most = 100000}};
}

std::vector<Option> diagnosed_data_options() {
  std::vector<Option> options = task_options();
  std::erase_if(options, [](const Option& o) { return o.name == "output" || o.name == "allow-leak"; });
  return options;
}

Result<std::vector<TaskFiles>> diagnosed_files(const Arguments& arguments, const std::optional<Model>& model,
                                               const std::string& model_file) {
  const auto method = method_of(model, model_file);
  if (!method) return method.error();
  auto files = task_files(arguments, **method);
  if (!files || !model) return files;
  if (auto checked = check_tasks_of(*model, files->size()); !checked)
    return Error{checked.error().message, model_file};
  return files;
}

Result<std::optional<Diagnosis>> diagnose(const Arguments& arguments, const std::vector<TaskFiles>& files,
                                          const std::optional<Model>& model) {
  std::vector<std::string> remarks;
  for (const TaskFiles& task : files) {
    if (has_label_column(task.table, arguments))
      remarks.push_back(fmt::format("{} has labels; they are not looked at", task.table.name()));
  }
  ProgressBar bar(arguments.flag("quiet"));
  Seconds seconds;
  auto loaded = load_tasks(arguments, files, {.rows = RowsNeeded::kAll, .moments = true, .leaks = true},
                           bar.observer(), seconds);
  if (!loaded) return loaded.error();
  const ModelDiagnosisOptions options{.seed = arguments.whole("seed"),
                                      .threads = static_cast<unsigned>(arguments.whole("threads")),
                                      .folds = arguments.whole("folds"),
                                      .draws = arguments.whole("bootstrap")};
  auto out = bagwise::diagnose(training_tasks(*loaded), model ? &*model : nullptr, options, bar.observer());
  if (interrupted() != 0) return std::optional<Diagnosis>();
  if (!out) {
    Error error = out.error();
    if (error.file.empty()) error.file = files.back().table.name();
    return error;
  }
  out->remarks = std::move(remarks);
  return std::optional<Diagnosis>(std::move(*out));
}

}  // namespace bagwise::cli
