// Diagnosing data and a model, as `diagnose` and `report` both do it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bagwise/report/diagnosis_tables.h"
#include "cli/command.h"
#include "cli/load_tasks.h"

namespace bagwise::cli {

// --folds and --bootstrap, under a heading.
std::vector<Option> diagnosis_options(const std::string& group);
// The data: --target, --source, their proportions, --align-features.
std::vector<Option> diagnosed_data_options();

// The files to diagnose; those of a model must be as many as it was trained on. `model_file` is for messages.
Result<std::vector<TaskFiles>> diagnosed_files(const Arguments& arguments, const std::optional<Model>& model,
                                               const std::string& model_file);

// Reads them and diagnoses all. Nothing: interrupted, which main turns into the signal's status.
Result<std::optional<Diagnosis>> diagnose(const Arguments& arguments, const std::vector<TaskFiles>& files,
                                          const std::optional<Model>& model);

}  // namespace bagwise::cli
