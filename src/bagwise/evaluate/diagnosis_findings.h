// What a diagnosis comes to, in sentences: the verdict, what is wrong, and what to do about it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/evaluate/diagnosis_model.h"
#include "bagwise/evaluate/diagnosis_task.h"
#include "bagwise/evaluate/diagnosis_transfer.h"

namespace bagwise {

enum class Severity { kVerdict, kRemark, kWarning, kFault };
std::string_view to_text(Severity severity);  // "verdict", "remark", "warning", "fault"

struct Finding {
  Severity severity = Severity::kRemark;
  std::string message;
};

enum class Learnable { kYes, kUnclear, kNo };
std::string_view to_text(Learnable learnable);  // "yes", "unclear", "no"

// Yes: a direction learnt from some bags tells the rest of them apart, beyond chance. No: the proportions are
// all alike, or there are fewer than three bags.
Learnable learnable(const TaskDiagnosis& task);

// Verdicts first, then faults, warnings and remarks. Tasks: sources in order, the target last.
std::vector<Finding> findings(std::span<const TaskDiagnosis> tasks,
                              std::span<const TransferDiagnosis> transfers);
std::vector<Finding> findings(const ModelDiagnosis& model);

}  // namespace bagwise
