#include "bagwise/methods/kernel_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/memory_budget.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {
namespace {

using Index = Eigen::Index;

void append(const RowsView& from, DenseRows& to) {
  const std::size_t columns = to.columns();
  double* out = to.append(row_count(from));
  if (const auto* dense = std::get_if<DenseView>(&from)) {
    std::copy_n(dense->values, dense->rows * columns, out);
    return;
  }
  const auto& sparse = std::get<CsrView>(from);
  std::fill_n(out, sparse.rows * columns, 0.0);
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    for (auto k = static_cast<std::size_t>(sparse.start[i]);
         k < static_cast<std::size_t>(sparse.start[i + 1]); ++k)
      out[i * columns + static_cast<std::size_t>(sparse.index[k])] = sparse.values[k];
  }
}

void append(const CsrView& from, Csr& to) {
  for (std::size_t i = 0; i < from.rows; ++i) {
    const auto begin = static_cast<std::size_t>(from.start[i]),
               end = static_cast<std::size_t>(from.start[i + 1]);
    to.index.insert(to.index.end(), from.index.begin() + static_cast<std::ptrdiff_t>(begin),
                    from.index.begin() + static_cast<std::ptrdiff_t>(end));
    to.values.insert(to.values.end(), from.values.begin() + static_cast<std::ptrdiff_t>(begin),
                     from.values.begin() + static_cast<std::ptrdiff_t>(end));
    to.start.push_back(static_cast<std::int64_t>(to.values.size()));
  }
}

// beta_k (1 + [task of k = t]/lambda_t) for every bag: the plane of task t in terms of bag means. With t =
// tasks(): the shared plane.
Vector bag_weights_of(const KernelTubeProblem& problem, const KernelTubeSolution& solution, std::size_t t) {
  Vector out(static_cast<Index>(problem.size()));
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const bool own = problem.task_of(k) == t;
    out[static_cast<Index>(k)] = solution.beta[k] * (own ? 1 + 1 / problem.lambda[t] : 1);
  }
  return out;
}

}  // namespace

Result<void> check_kernel_choice(const KernelChoice& choice) {
  if (!choice.is_linear()) return {};
  if (choice.gamma)
    return Error{fmt::format("gamma = {} has no meaning for the kernel linear", *choice.gamma)};
  if (choice.nystrom > 0) {
    return Error{fmt::format(
        "nystrom = {} has no meaning for the kernel linear, which needs no approximation", choice.nystrom)};
  }
  return {};
}

Result<void> check_rows_at_hand(std::span<const TrainingTask> tasks, const Context& context) {
  if (context.comm != nullptr && context.comm->size() > 1)
    return Error{
        "a kernel looks at all pairs of rows: expected one process that has them all, or the kernel linear"};
  for (const TrainingTask& task : tasks) {
    if (task.rows == nullptr)
      return Error{fmt::format("the {} is given by sums per bag only; a kernel needs its rows", task.name)};
  }
  return {};
}

Result<void> check_kernel_memory(const KernelChoice& choice, std::span<const TrainingTask> tasks,
                                 KernelUse use) {
  if (choice.is_linear()) return {};
  double rows = 0, bags = 0;
  for (const TrainingTask& task : tasks) {
    rows += static_cast<double>(task.rows->bag_of_row.size());
    bags += static_cast<double>(task.reduced.bags.size());
  }
  if (choice.nystrom > 0) {
    const double landmarks = std::min(rows, static_cast<double>(choice.nystrom));
    constexpr double kCopies = 3;  // the products, made symmetric, and their eigenvectors
    const double mapped = use == KernelUse::kBags ? 0 : rows;
    return check_matrix("landmarks", kCopies * landmarks + mapped, landmarks,
                        "take fewer landmarks (nystrom)");
  }
  constexpr std::string_view kAdvice =
      "approximate the kernel by landmarks (nystrom), or use the kernel linear";
  if (use == KernelUse::kColumns) return {};
  const double side = use == KernelUse::kBags ? bags : rows;
  return check_matrix(use == KernelUse::kBags ? "the kernel between bags" : "the kernel between rows", side,
                      side, kAdvice);
}

KernelFunction kernel_function(const KernelChoice& choice, const FeatureMoments& moments,
                               const Scaling& scaling) {
  KernelFunction out{choice.kernel, choice.gamma.value_or(1), choice.degree};
  if (choice.gamma || choice.is_linear()) return out;
  double variance = 0;
  for (std::size_t j = 0; j < moments.sum.size(); ++j) {
    const double factor = scaling.factor.empty() ? 1 : scaling.factor[j];
    variance += moments.variance(j) * factor * factor;
  }
  if (variance > 0 && std::isfinite(1 / variance)) out.gamma = 1 / variance;
  return out;
}

Features stack(const std::vector<Features>& tables) {
  const std::size_t columns = tables.back().columns();
  if (std::all_of(tables.begin(), tables.end(), [](const Features& f) { return f.sparse(); })) {
    Csr out;
    out.columns = columns;
    for (const Features& table : tables) append(std::get<CsrView>(table.view()), out);
    return out;
  }
  DenseRows out(columns);
  for (const Features& table : tables) append(table.view(), out);
  return out;
}

std::vector<Features> scaled_tables(std::span<const TrainingTask> tasks, const Scaling& scaling) {
  std::vector<Features> out;
  for (const TrainingTask& task : tasks) {
    const RowsView rows = task.rows->features.view();
    out.push_back(scaled_rows(scaling, rows, 0, row_count(rows)));
  }
  return out;
}

StackedRows stack_rows(std::span<const TrainingTask> tasks, const std::vector<Features>& tables) {
  StackedRows out;
  for (const TrainingTask& task : tasks) {
    const auto first = static_cast<std::uint32_t>(out.bag_size.size());
    for (const std::uint32_t bag : task.rows->bag_of_row) out.bag_of_row.push_back(first + bag);
    out.bag_size.resize(out.bag_size.size() + task.rows->bags.size(), 0.0);
  }
  for (const std::uint32_t bag : out.bag_of_row) out.bag_size[bag] += 1;
  out.rows = stack(tables);
  return out;
}

StackedRows with_rows(const StackedRows& stacked, std::span<const DenseRows* const> tables) {
  StackedRows out{{}, stacked.bag_of_row, stacked.bag_size};
  DenseRows rows(tables.back()->columns());
  for (const DenseRows* table : tables) append(RowsView(table->view()), rows);
  out.rows = std::move(rows);
  return out;
}

std::vector<double> row_weights(const KernelTubeProblem& problem, const KernelTubeSolution& solution,
                                const StackedRows& rows, std::size_t t) {
  const Vector bag = bag_weights_of(problem, solution, t);
  std::vector<double> out;
  for (const std::uint32_t k : rows.bag_of_row) out.push_back(bag[static_cast<Index>(k)] / rows.bag_size[k]);
  return out;
}

PlaneProducts products_of(const KernelTubeProblem& problem, const KernelTubeSolution& solution) {
  const std::size_t tasks = problem.tasks();
  ColMatrix planes(static_cast<Index>(problem.size()), static_cast<Index>(tasks));
  PlaneProducts out;
  for (std::size_t t = 0; t < tasks; ++t)
    planes.col(static_cast<Index>(t)) = bag_weights_of(problem, solution, t);
  const Vector shared = bag_weights_of(problem, solution, tasks);
  const Vector reached = problem.kernel * shared;
  out.shared = shared.dot(reached);
  out.between = planes.transpose() * problem.kernel * planes;
  for (std::size_t t = 0; t < tasks; ++t) {
    const Vector own = planes.col(static_cast<Index>(t)) - shared;
    out.own.push_back(own.dot(problem.kernel * own));
    out.with_shared.push_back(planes.col(static_cast<Index>(t)).dot(reached));
  }
  return out;
}

void set_expansion(const KernelFunction& kernel, const KernelTubeProblem& problem,
                   const KernelTubeSolution& solution, const StackedRows& rows,
                   std::span<const TrainingTask> tasks, Model& model) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < rows.bag_of_row.size(); ++i) {
    if (solution.beta[rows.bag_of_row[i]] != 0) kept.push_back(i);
  }
  model.expansion = Expansion{kernel, take_rows(rows.rows.view(), kept)};
  const auto weights_of = [&](std::size_t t) {
    const auto all = row_weights(problem, solution, rows, t);
    std::vector<double> out;
    for (const std::size_t i : kept) out.push_back(all[i]);
    return out;
  };
  for (std::size_t t = 0; t < problem.tasks(); ++t)
    model.tasks.push_back({tasks[t].name, weights_of(t), solution.bias[t], {}});
  if (std::isfinite(*std::min_element(problem.lambda.begin(), problem.lambda.end())))
    model.shared_weights = weights_of(problem.tasks());
}

}  // namespace bagwise
