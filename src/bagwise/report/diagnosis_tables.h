// What a diagnosis shows people: its findings in order, and its tables.
//
// diagnose prints them (diagnosis_text.h), a model's page has them (model_page.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bagwise/evaluate/diagnosis.h"
#include "bagwise/evaluate/diagnosis_findings.h"
#include "bagwise/report/table.h"

namespace bagwise {

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
