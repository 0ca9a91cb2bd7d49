// Experiment files.
#include "bagwise/report/experiment_file.h"

#include "harness.h"

namespace bagwise::fuzz {

// As of a grid.
const Bound kBound{.fixed = 192 * kMiB, .per_byte = 2048};

void fuzz_one(std::string_view input) {
  const std::string path = input_path("experiment.json");
  const auto experiment = experiment_from_json(input, path);
  if (!experiment) return require_error(experiment.error());
  const ExperimentPlan& plan = experiment->plan;
  require(!plan.data.empty() && !plan.methods.empty() && !plan.bag_sizes.empty() && !plan.noise.empty(),
          "there is something to run");
  for (const ExperimentMethod& method : plan.methods)
    require(!fingerprint(method).empty(), "a method has a fingerprint");
  const auto back = experiment_from_json(experiment->document, path);
  require(back.ok(), back ? "" : "its own document can be read: " + back.error().text());
  require(back->document == experiment->document, "its own document reads back the same");
}

}  // namespace bagwise::fuzz
