#include "bagwise/methods/task_reports.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/methods/bag_checks.h"

namespace bagwise {

PlaneProducts products_of(const TubePlanes& planes) {
  const std::size_t tasks = planes.own.size();
  PlaneProducts out;
  out.shared = planes.shared.squaredNorm();
  ColMatrix w(planes.shared.size(), static_cast<Eigen::Index>(tasks));
  for (std::size_t t = 0; t < tasks; ++t) {
    w.col(static_cast<Eigen::Index>(t)) = planes.weights(t);
    out.own.push_back(planes.own[t].squaredNorm());
    out.with_shared.push_back(planes.shared.dot(w.col(static_cast<Eigen::Index>(t))));
  }
  out.between = w.transpose() * w;
  return out;
}

void set_planes(const TubePlanes& planes, std::span<const TrainingTask> tasks, Model& model) {
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Vector w = planes.weights(t);
    model.tasks.push_back({tasks[t].name, {w.data(), w.data() + w.size()}, planes.bias[t], {}});
  }
  model.shared_weights = {planes.shared.data(), planes.shared.data() + planes.shared.size()};
}

void report_planes(const PlaneProducts& products, TrainingReport& report) {
  constexpr double kDegrees = 180 / std::numbers::pi;
  report.shared_norm = std::sqrt(std::max(0.0, products.shared));
  for (std::size_t t = 0; t < report.tasks.size(); ++t) {
    const auto at = static_cast<Eigen::Index>(t);
    TaskReport& task = report.tasks[t];
    const double square = products.between(at, at);
    task.norm = std::sqrt(std::max(0.0, square));
    task.own_norm = std::sqrt(std::max(0.0, products.own[t]));
    task.shared_part = square > 0 ? products.with_shared[t] / square : 0;
    task.angles.clear();
    for (Eigen::Index s = 0; s < products.between.cols(); ++s) {
      const double lengths = std::sqrt(square) * std::sqrt(std::max(0.0, products.between(s, s)));
      const double cosine = lengths > 0 ? std::clamp(products.between(at, s) / lengths, -1.0, 1.0) : 0;
      task.angles.push_back(s == at ? 0 : std::acos(cosine) * kDegrees);
    }
  }
}

std::vector<double> values_at_means(const TubeProblem& problem, const TubePlanes& planes, unsigned threads) {
  std::vector<double> out(problem.size()), product(problem.size());
  for (std::size_t t = 0; t < problem.tasks(); ++t) {
    multiply(problem.rows, planes.weights(t), product, threads);
    for (std::size_t i = 0; i < problem.size(); ++i) {
      if (problem.task_of(i) == t) out[i] = product[i] + planes.bias[t];
    }
  }
  return out;
}

std::vector<TaskReport> report_bags(std::span<const TrainingTask> tasks,
                                    std::span<const ReducedBags* const> data, const TubeTerms& terms,
                                    std::span<const double> values, Communicator* spread) {
  std::vector<TaskReport> out;
  std::size_t at = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    TaskReport report;
    report.name = tasks[t].name;
    if (is_shared(spread)) {
      report.instances = census_of(*data[t], spread).rows;
      out.push_back(std::move(report));
      continue;
    }
    report.bag_names = data[t]->bags.names;
    for (std::size_t k = 0; k < data[t]->bags.size(); ++k, ++at) {
      report.instances += data[t]->sums.count(k);
      report.residual.push_back(values[at] - terms.target[at]);
    }
    out.push_back(std::move(report));
  }
  return out;
}

}  // namespace bagwise
