// A whole diagnosis: every task, each source against the target, and the model, where there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/evaluate/diagnosis_model.h"
#include "bagwise/evaluate/diagnosis_task.h"
#include "bagwise/evaluate/diagnosis_transfer.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// All that was found; tasks are sources in order, the target last.
struct Diagnosis {
  std::vector<TaskDiagnosis> tasks;
  std::vector<TransferDiagnosis> transfers;
  std::optional<ModelDiagnosis> model;
  std::vector<std::string> remarks;  // of whoever read the data
};

// That a model may have been fitted to so many tasks; the error says what was expected.
Result<void> check_tasks_of(const Model& model, std::size_t tasks);

// Every task with its rows and with moments, those of a model with its features in its order. No model: null.
// Errors: those of diagnose_model, a stop by the observer.
Result<Diagnosis> diagnose(std::span<const TrainingTask> tasks, const Model* model,
                           const ModelDiagnosisOptions& options = {}, const Observer& observer = {});

}  // namespace bagwise
