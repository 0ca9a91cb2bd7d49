#include "bagwise/evaluate/committee.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bagwise {

std::vector<double> weights_of_values(std::span<const double> values, double tau) {
  constexpr double kLeast = 0.01;
  std::vector<double> out;
  if (values.empty()) return out;
  const double least = *std::min_element(values.begin(), values.end());
  for (const double value : values) {
    const double weight = std::exp(-(value - least) / tau);
    out.push_back(weight >= kLeast ? weight : 0);
  }
  return out;
}

std::vector<TaskModel> raw_planes(const Model& model) {
  std::vector<TaskModel> out;
  for (std::size_t t = 0; !model.expansion && t < model.tasks.size(); ++t) {
    const Plane plane = raw_plane(model, t);
    out.push_back({model.tasks[t].name,
                   {plane.weights.data(), plane.weights.data() + plane.weights.size()},
                   plane.bias,
                   model.tasks[t].probability});
  }
  return out;
}

void set_committee(std::vector<Member> members, std::vector<std::string> settings, Model& model) {
  assert(!members.empty());
  double total = 0;
  std::size_t tasks = members[0].planes.size();
  for (const Member& member : members) {
    total += member.weight;
    // Of methods with sources and methods without, the target is what all have.
    if (member.planes.size() != tasks) tasks = 1;
  }
  const std::size_t features = members[0].planes.back().weights.size();
  const auto count = static_cast<Eigen::Index>(members.size());
  Committee out;
  out.settings = std::move(settings);
  model.tasks.clear();
  for (std::size_t t = 0; t < tasks; ++t) {
    out.tasks.push_back({RowMatrix(count, static_cast<Eigen::Index>(features)), {}, {}});
    const std::vector<TaskModel>& planes = members[0].planes;
    model.tasks.push_back(
        {planes[planes.size() - tasks + t].name, std::vector<double>(features, 0.0), 0, {}});
  }
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Member& member = members[m];
    const double share = member.weight / total;
    out.setting.push_back(member.setting);
    out.fold.push_back(member.fold);
    out.share.push_back(share);
    for (std::size_t t = 0; t < tasks; ++t) {
      const TaskModel& plane = member.planes[member.planes.size() - tasks + t];
      for (std::size_t j = 0; j < features; ++j) {
        out.tasks[t].weights(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(j)) = plane.weights[j];
        model.tasks[t].weights[j] += share * plane.weights[j];
      }
      out.tasks[t].bias.push_back(plane.bias);
      out.tasks[t].probability.push_back(plane.probability);
      model.tasks[t].bias += share * plane.bias;
    }
  }
  model.committee = std::move(out);
}

}  // namespace bagwise
