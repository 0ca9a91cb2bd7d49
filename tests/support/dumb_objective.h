// The objectives of the methods as the documents state them, by plain loops over a model and the rows it was
// fitted to, in numbers of more digits and a wider range than a double has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bagwise/methods/registry.h"

namespace bagwise::test {

struct DumbValue {
  long double value = 0;
  long double noise = 0;  // about what the rounding of the model's numbers and of sums in doubles may change
};

inline long double option(const Model& model, const std::string& name, std::size_t source = 0) {
  for (const auto& [known, value] : model.options) {
    if (known != name) continue;
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* several = std::get_if<std::vector<double>>(&value)) return several->at(source);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<long double>(*whole);
  }
  return 0;
}

inline std::string choice(const Model& model, const std::string& name) {
  for (const auto& [known, value] : model.options) {
    if (known == name) return to_text(value);
  }
  return {};
}

// The rows of a task as the weights see them.
inline std::vector<std::vector<long double>> seen_rows(const Model& model, const BaggedData& data) {
  const RowsView view = data.features.view();
  std::vector<std::vector<long double>> out(row_count(view), std::vector<long double>(column_count(view), 0));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (const auto* dense = std::get_if<DenseView>(&view)) {
      for (std::size_t j = 0; j < out[i].size(); ++j) out[i][j] = dense->row(i)[j];
    } else {
      const auto& sparse = std::get<CsrView>(view);
      for (auto k = static_cast<std::size_t>(sparse.start[i]);
           k < static_cast<std::size_t>(sparse.start[i + 1]); ++k)
        out[i][static_cast<std::size_t>(sparse.index[k])] = sparse.values[k];
    }
    for (std::size_t j = 0; j < out[i].size() && !model.scaling.factor.empty(); ++j)
      out[i][j] = (out[i][j] - model.scaling.shift[j]) * model.scaling.factor[j];
  }
  return out;
}

struct DumbMeans {
  std::vector<std::vector<long double>> mean;
  std::vector<std::uint64_t> size;
};
inline DumbMeans dumb_means(const Model& model, const BaggedData& data) {
  const auto rows = seen_rows(model, data);
  DumbMeans out{std::vector(data.bags.size(), std::vector<long double>(model.features.size(), 0)),
                std::vector<std::uint64_t>(data.bags.size(), 0)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j) out.mean[data.bag_of_row[i]][j] += rows[i][j];
    ++out.size[data.bag_of_row[i]];
  }
  for (std::size_t k = 0; k < out.mean.size(); ++k) {
    for (auto& m : out.mean[k]) m /= static_cast<long double>(out.size[k]);
  }
  return out;
}

// sum_k C max(0, |f(m_k) - y_k| - eps - slack), of a linear task.
inline DumbValue dumb_tube_loss(const Model& model, const TaskModel& task, const DumbMeans& means,
                                const Bags& bags, long double cost, const std::vector<long double>& slack) {
  constexpr long double kRounding = 1e-14L;
  const Scaling& scaling = model.scaling;
  const long double epsilon = option(model, "epsilon"), given_clip = option(model, "clip");
  DumbValue out;
  for (std::size_t k = 0; k < bags.size(); ++k) {
    const long double clip =
        given_clip > 0 ? given_clip : 1 / (2 * static_cast<long double>(means.size[k]) + 2);
    const long double share = bags.proportions[k];
    const long double y =
        std::log(std::clamp(share, clip, 1 - clip)) - std::log(std::clamp(1 - share, clip, 1 - clip));
    long double f = task.bias, size = std::abs(f) + std::abs(y);
    for (std::size_t j = 0; j < task.weights.size(); ++j) {
      f += task.weights[j] * means.mean[k][j];
      size += std::abs(task.weights[j] * means.mean[k][j]);
      if (!scaling.factor.empty())  // a mean is rounded before the shift is taken off
        size += std::abs(static_cast<long double>(task.weights[j]) * scaling.factor[j] * scaling.shift[j]);
    }
    const long double moved = slack.empty() ? 0 : slack[k];
    out.value += cost * std::max(0.0L, std::abs(f - y) - epsilon - moved);
    out.noise += kRounding * cost * (size + epsilon + moved);
  }
  return out;
}

inline long double squared(const std::vector<double>& w) {
  long double sum = 0;
  for (const double v : w) sum += static_cast<long double>(v) * v;
  return sum;
}

// The objective of inv-cal, and of tl-llp with uncertainty off or exact; nothing for other models.
inline std::optional<DumbValue> dumb_objective(const Model& model, const std::vector<TrainingTask>& tasks) {
  if (model.expansion || model.metric.kind != "none") return std::nullopt;
  if (choice(model, "tube") == "calibrated" || choice(model, "bag-weight") == "size") return std::nullopt;
  const bool transfer = model.method == "tl-llp";
  if (model.method != "inv-cal" && (!transfer || choice(model, "uncertainty") == "literal"))
    return std::nullopt;
  DumbValue out;
  out.value = (transfer ? squared(model.shared_weights) : squared(model.tasks[0].weights)) / 2;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const bool target = t + 1 == tasks.size();
    const TaskModel& task = model.tasks[t];
    const DumbMeans means = dumb_means(model, *tasks[t].rows);
    std::vector<long double> slack;
    if (transfer) {
      const long double lambda = option(model, target ? "lambda" : "lambda-source", t);
      long double own = 0, stretched = 0, lost = 0;
      for (std::size_t j = 0; j < task.weights.size(); ++j) {
        const long double v = static_cast<long double>(task.weights[j]) - model.shared_weights[j];
        const long double w =
            task.weights[j] *
            (model.scaling.factor.empty() ? 1.0L : static_cast<long double>(model.scaling.factor[j]));
        own += v * v;
        stretched += w * w;
        lost += std::abs(v) * (std::abs(task.weights[j]) + std::abs(model.shared_weights[j]));
      }
      out.value += lambda / 2 * own;
      out.noise += 1e-15L * lambda * lost;  // v is what the difference of two rounded planes leaves of it
      const bool off = choice(model, "uncertainty") == "off";
      std::vector<long double> bound(means.size.size(), off ? 0 : 0.01L);
      if (!off && choice(model, "delta") != "auto") bound.assign(bound.size(), option(model, "delta"));
      if (!off && !tasks[t].rows->bounds.empty()) {
        bound.assign(bound.size(), 0);
        for (std::size_t i = 0; i < tasks[t].rows->bounds.size(); ++i)
          bound[tasks[t].rows->bag_of_row[i]] += tasks[t].rows->bounds[i];
        for (std::size_t k = 0; k < bound.size(); ++k) bound[k] /= static_cast<long double>(means.size[k]);
      }
      for (const long double b : bound) slack.push_back(b * std::sqrt(stretched));
    }
    const DumbValue loss = dumb_tube_loss(model, task, means, tasks[t].rows->bags,
                                          option(model, transfer && !target ? "C-source" : "C", t), slack);
    out.value += loss.value;
    out.noise += loss.noise;
  }
  return out;
}

}  // namespace bagwise::test
