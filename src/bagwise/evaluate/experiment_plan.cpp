#include "bagwise/evaluate/experiment_plan.h"

namespace bagwise {

std::vector<ExperimentKey> keys_of(const ExperimentPlan& plan) {
  std::vector<ExperimentKey> out;
  for (const ExperimentData& data : plan.data) {
    for (const double noise : plan.noise) {
      for (const std::uint64_t size : plan.bag_sizes) {
        for (std::uint64_t fold = 0; fold < plan.run_folds; ++fold) {
          for (const ExperimentMethod& method : plan.methods)
            out.push_back({data.name, method.name, size, noise, fold});
        }
      }
    }
  }
  return out;
}

}  // namespace bagwise
