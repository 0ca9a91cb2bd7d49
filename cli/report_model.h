// The page of a trained model: what `bagwise report` does with a model file.
#pragma once

#include <vector>

#include "cli/command.h"

namespace bagwise::cli {

// The data of the model and how they are diagnosed; none of them is required. --quiet and --json are not
// among them, run_model_report() reads them all the same.
std::vector<Option> model_report_options();

// "input" is the model, "output" the page. Errors: options about data without --target, data that are not the
// model's.
Result<int> run_model_report(const Arguments& arguments);

}  // namespace bagwise::cli
