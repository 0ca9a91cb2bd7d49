// What a diagnosis shows people: its findings in order, and its tables.
//
// diagnose prints them (cli/diagnosis_text), a model's page has them (model_page.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bagwise/evaluate/diagnosis_findings.h"
#include "bagwise/report/table.h"

namespace bagwise {

// All that was found: the tasks (sources in order, the target last), each source against the target, and the
// model, where there is one.
struct Diagnosis {
  std::vector<TaskDiagnosis> tasks;
  std::vector<TransferDiagnosis> transfers;
  std::optional<ModelDiagnosis> model;
  std::vector<std::string> remarks;  // of whoever read the data
};

// Verdicts first; of the model before those of its data.
std::vector<Finding> all_findings(const Diagnosis& diagnosis);

// One row per figure, one column per task, the target first.
TextTable diagnosis_table(const std::vector<TaskDiagnosis>& tasks);
TextTable transfer_table(const std::vector<TransferDiagnosis>& transfers);
TextTable model_table(const ModelDiagnosis& model);

// The bags that fit worst: by p-value, then by error.
std::vector<const BagFit*> worst_fits(const ModelDiagnosis& model, std::size_t count);
TextTable worst_bags_table(const ModelDiagnosis& model, std::size_t count);

TextTable bootstrap_table(const BootstrapDiagnosis& bootstrap, std::size_t count);
std::string bootstrap_line(
    const BootstrapDiagnosis& bootstrap);  // what the table shows, and how many are steady

}  // namespace bagwise
