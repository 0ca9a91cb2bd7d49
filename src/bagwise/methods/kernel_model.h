// Kernel models of bags: from the rows of all tasks and the multipliers of their bags to an expansion.
//
//   f_t(x) = sum_s sum_k beta_sk (1 + [s = t]/lambda_t) 1/|B_sk| sum_{j in B_sk} k(x_sj, x) + b_t
//
// The regression that finds beta is solver/kernel_tube.h; the averages of the kernel are bags/bag_kernel.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bagwise/bags/bag_kernel.h"
#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/options.h"
#include "bagwise/linalg/kernel_function.h"
#include "bagwise/methods/model.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/task_reports.h"
#include "bagwise/solver/kernel_tube.h"

namespace bagwise {

// The options about kernels that methods share, under the names kernel, gamma, degree and nystrom.
struct KernelChoice {
  KernelKind kernel = KernelKind::kLinear;
  std::optional<double> gamma = {};
  int degree = 3;
  int nystrom = 0;

  [[nodiscard]] bool is_linear() const { return kernel == KernelKind::kLinear; }
};

template <class O, class Visitor>
void describe_kernel(Visitor&& visit) {
  visit("kernel", &O::kernel,
        "rbf: exp(-gamma |x - z|^2); poly: (gamma x.z + 1)^degree; both need single rows", Rule{});
  visit("gamma", &O::gamma,
        "scale of the kernel rbf or poly; auto: 1 over the number of features times their mean variance",
        positive());
  visit("degree", &O::degree, "degree of the kernel poly",
        Rule{"from 1 to 20", [](double v) { return v >= 1 && v <= 20; }});
  visit("nystrom", &O::nystrom,
        "approximate the kernel rbf or poly by this many rows of the data; 0: the kernel itself",
        non_negative());
}

// Faults in how the options go together: those that only a kernel other than linear has use for.
Result<void> check_kernel_choice(const KernelChoice& choice);

// That every task has its rows here, in this process: a kernel looks at all pairs of them.
Result<void> check_rows_at_hand(std::span<const TrainingTask> tasks, const Context& context);

// What a method makes of a kernel: averages over pairs of bags, a column per row when it is needed, or all
// pairs of rows.
enum class KernelUse { kBags, kColumns, kRows };
// That there is memory for the largest matrices of a fit; nothing for the kernel linear. With `nystrom` these
// are the landmarks' products and, except for kBags, the rows in their coordinates.
Result<void> check_kernel_memory(const KernelChoice& choice, std::span<const TrainingTask> tasks,
                                 KernelUse use);

// The kernel with its gamma; `moments` are those of the raw rows of all tasks.
KernelFunction kernel_function(const KernelChoice& choice, const FeatureMoments& moments,
                               const Scaling& scaling);

// The rows of all tasks one after the other, and the bag of each, numbered on from task to task.
struct StackedRows {
  Features rows;
  std::vector<std::uint32_t> bag_of_row;
  std::vector<double> bag_size;  // rows per bag

  [[nodiscard]] RowsInBags in_bags() const { return {rows.view(), bag_of_row, bag_size.size()}; }
};

// The rows of each task as scaled.
std::vector<Features> scaled_tables(std::span<const TrainingTask> tasks, const Scaling& scaling);

// Tables of the same columns one below the other; sparse if all of them are. There is at least one.
Features stack(const std::vector<Features>& tables);

// The tasks' rows, given as one table per task.
StackedRows stack_rows(std::span<const TrainingTask> tasks, const std::vector<Features>& tables);
// Other rows in the same bags: one table per task.
StackedRows with_rows(const StackedRows& stacked, std::span<const DenseRows* const> tables);

// The weights of every row for task t (t = tasks(): those of the shared part).
std::vector<double> row_weights(const KernelTubeProblem& problem, const KernelTubeSolution& solution,
                                const StackedRows& rows, std::size_t t);

// Lengths and products of the planes in the kernel's space.
PlaneProducts products_of(const KernelTubeProblem& problem, const KernelTubeSolution& solution);

// Fills expansion, tasks (in the order of `names`) and shared weights of the model; rows of bags with beta =
// 0 are left out.
void set_expansion(const KernelFunction& kernel, const KernelTubeProblem& problem,
                   const KernelTubeSolution& solution, const StackedRows& rows,
                   std::span<const TrainingTask> tasks, Model& model);

}  // namespace bagwise
