#include "bagwise/report/model_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bagwise/methods/plane_weights.h"
#include "bagwise/report/table.h"

namespace bagwise {

bool has_shared_part(const Model& model) { return !model.shared_weights.empty() && !model.expansion; }

std::vector<WeightParts> largest_weights(const Model& model, std::size_t task, std::size_t count) {
  std::vector<WeightParts> out;
  if (model.expansion) return out;
  const Plane plane = raw_plane(model, task);
  const bool parts = has_shared_part(model);
  const Plane shared = parts ? raw_plane(model.scaling, model.shared_weights, 0) : Plane{};
  for (const std::size_t j : largest_weights(plane, count)) {
    const auto i = static_cast<Eigen::Index>(j);
    const double common = parts ? shared.weights[i] : 0;
    out.push_back({j, plane.weights[i], common, plane.weights[i] - common});
  }
  return out;
}

double cosine_to_target(const Model& model, std::size_t task) {
  const TrainingReport& report = model.training;
  if (model.expansion && task < report.tasks.size() && !report.tasks[task].angles.empty())
    return std::cos(report.tasks[task].angles.back() * std::numbers::pi / 180);
  const Plane a = raw_plane(model, task), b = raw_plane(model, model.tasks.size() - 1);
  const double lengths = a.weights.norm() * b.weights.norm();
  return lengths == 0 ? 0 : a.weights.dot(b.weights) / lengths;
}

std::string kernel_text(const Expansion& expansion) {
  const KernelFunction& kernel = expansion.kernel;
  return fmt::format("an expansion in {} with the kernel {}, gamma {}{}",
                     count_of(expansion.rows.rows(), "row", "rows"), name_of(kernel.kind),
                     short_number(kernel.gamma),
                     kernel.kind == KernelKind::kPoly ? fmt::format(", degree {}", kernel.degree) : "");
}

std::vector<SettingShare> setting_shares(const Committee& committee) {
  std::vector<SettingShare> out;
  for (const std::string& setting : committee.settings) out.push_back({setting});
  for (std::size_t m = 0; m < committee.size(); ++m) {
    out[committee.setting[m]].share += committee.share[m];
    ++out[committee.setting[m]].planes;
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return out;
}

std::string selection_text(const Selection& s) {
  return fmt::format("{} of {} on {} of bags, the best {:.4g}: {}", s.criterion,
                     count_of(s.settings, "setting", "settings"),
                     count_of(s.folds * s.repeats, "fold", "folds"), s.value, printable(s.best));
}

}  // namespace bagwise
