#include "bagwise/methods/model.h"

#include <fmt/format.h>

#include <cassert>
#include <charconv>
#include <cmath>

#include "bagwise/core/sigmoid.h"
#include "bagwise/linalg/kernels.h"

namespace bagwise {

double Probability::of(double score) const { return Sigmoid(slope * score + offset).positive; }
double Probability::of_negative(double score) const { return Sigmoid(slope * score + offset).negative; }

Result<std::size_t> Model::find_task(const std::string& name) const {
  if (name == "target") return tasks.size() - 1;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].name == name) return t;
  }
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (code == std::errc{} && end == name.data() + name.size() && number >= 1 && number <= tasks.size()) {
    return number - 1;
  }
  std::vector<std::string> known;
  for (const auto& task : tasks) known.push_back(task.name);
  return Error{fmt::format("this model has no task \"{}\"; it has {} (or a number from 1 to {})", name,
                           fmt::join(known, ", "), tasks.size())};
}

Plane raw_plane(const Scaling& scaling, const std::vector<double>& weights, double bias) {
  Plane plane{Eigen::Map<const Vector>(weights.data(), static_cast<Eigen::Index>(weights.size())), bias};
  if (!scaling.factor.empty()) {
    for (Eigen::Index j = 0; j < plane.weights.size(); ++j) {
      plane.weights[j] *= scaling.factor[static_cast<std::size_t>(j)];
      plane.bias -= plane.weights[j] * scaling.shift[static_cast<std::size_t>(j)];
    }
  }
  return plane;
}

Plane raw_plane(const Model& model, std::size_t task) {
  assert(task < model.tasks.size());
  if (model.expansion) return {{}, model.tasks[task].bias};
  return raw_plane(model.scaling, model.tasks[task].weights, model.tasks[task].bias);
}

std::vector<double> scores(const Plane& plane, const RowsView& rows, unsigned threads) {
  assert(static_cast<std::size_t>(plane.weights.size()) == column_count(rows));
  std::vector<double> out(row_count(rows));
  multiply_each(rows, plane.weights, out, threads);
  for (double& f : out) f += plane.bias;
  return out;
}

}  // namespace bagwise
