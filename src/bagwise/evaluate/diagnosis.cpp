#include "bagwise/evaluate/diagnosis.h"

#include <fmt/format.h>

#include <utility>

namespace bagwise {

Result<void> check_tasks_of(const Model& model, std::size_t tasks) {
  if (may_be_of(model, tasks)) return {};
  const std::size_t sources = model.tasks.size() - 1;
  return Error{fmt::format("was trained with {} and {} given; expected the data it was trained on",
                           sources > 0  ? fmt::format("{} source(s)", sources)
                           : tasks == 1 ? "sources"
                                        : "no source",
                           tasks == 1 ? "none is" : fmt::format("{} are", tasks - 1))};
}

Result<Diagnosis> diagnose(std::span<const TrainingTask> tasks, const Model* model,
                           const ModelDiagnosisOptions& options, const Observer& observer) {
  Diagnosis out;
  const DiagnosisOptions of_data{.seed = options.seed, .threads = options.threads};
  const double total = static_cast<double>(2 * tasks.size() - 1);
  double done = 0;
  const auto stopped = [&] { return tell(observer, {"diagnosing", done++, total}) == Next::kStop; };
  for (const TrainingTask& task : tasks) {
    if (stopped()) return Error{"stopped before all was diagnosed"};
    out.tasks.push_back(diagnose_task(task.name, *task.rows, task.reduced, of_data));
  }
  const TrainingTask& target = tasks.back();
  for (const TrainingTask& source : tasks.first(tasks.size() - 1)) {
    if (stopped()) return Error{"stopped before all was diagnosed"};
    out.transfers.push_back(
        diagnose_transfer(source.name, *source.rows, source.reduced, *target.rows, target.reduced, of_data));
  }
  if (model == nullptr) return out;
  if (auto checked = check_tasks_of(*model, tasks.size()); !checked) return checked.error();
  auto judged = diagnose_model(*model, tasks, options, observer);
  if (!judged) return judged.error();
  out.model = std::move(*judged);
  return out;
}

}  // namespace bagwise
