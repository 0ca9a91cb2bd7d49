#include "bagwise/methods/tl_llp/start.h"

#include "bagwise/methods/path_state.h"
#include "bagwise/methods/single_rows.h"

namespace bagwise {

TlLlpOptions tl_llp_start(const KernelChoice& choice, const KernelFunction& kernel) {
  auto out = with_kernel<TlLlpOptions>(choice, kernel);
  out.uncertainty = Uncertainty::kOff;
  return out;
}

Result<Fit> fit_tl_llp_start(std::span<const BaggedData* const> tasks, TlLlpOptions options,
                             const Context& context) {
  options.gap = gap_on_path(options.gap, context);
  Context inside = context;
  inside.scaling = nullptr;  // these rows are scaled already
  inside.path = nullptr;     // what a path keeps is the other method's
  std::vector<TrainingTask> given;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::string name = t + 1 == tasks.size() ? "target" : fmt::format("source-{}", t + 1);
    given.push_back({name, reduce(*tasks[t], context.threads), tasks[t]});
  }
  return fit_tl_llp(given, options, inside);
}

Result<std::vector<double>> tl_llp_scores(std::span<const BaggedData* const> tasks,
                                          const TlLlpOptions& options, const Context& context) {
  return target_scores(fit_tl_llp_start(tasks, options, context), *tasks.back(), context.threads);
}

}  // namespace bagwise
