// A diagnosis for people and for programs: its text and its JSON.
#pragma once

#include <string>
#include <vector>

#include "bagwise/evaluate/diagnosis_findings.h"
#include "bagwise/report/training_json.h"

namespace bagwise::cli {

// All that `diagnose` found: the tasks (sources in order, the target last), each source against the target,
// and the model, where one was given.
struct Diagnosis {
  std::vector<TaskDiagnosis> tasks;
  std::vector<TransferDiagnosis> transfers;
  std::optional<ModelDiagnosis> model;
  std::vector<std::string> remarks;  // of the command itself
};

// Findings, then tables; of a model `worst` bags and `top` weights.
struct Shown {
  std::size_t worst = 10, top = 10;
};
std::string diagnosis_text(const Diagnosis& diagnosis, const Shown& shown);
Json diagnosis_json(const Diagnosis& diagnosis);

}  // namespace bagwise::cli
