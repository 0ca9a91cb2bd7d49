#include "bagwise/methods/mean_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "bagwise/bags/visit_means.h"
#include "bagwise/core/memory_budget.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {
namespace {

constexpr double kMostBytes = 2e9;  // of sparse means that a shift fills up

Csr sparse_means(std::span<const ReducedBags* const> tasks) {
  Csr out;
  out.columns = tasks.back()->sums.features();
  for (const ReducedBags* task : tasks) {
    const std::size_t first = out.rows();
    const auto end_rows = [&](std::size_t rows) {
      out.start.resize(rows + 1, static_cast<std::int64_t>(out.index.size()));
    };
    visit_means(task->sums, [&](std::size_t k, std::size_t j, double mean) {
      if (mean == 0) return;
      end_rows(first + k);
      out.index.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(mean);
    });
    end_rows(first + task->sums.bags());
  }
  return out;
}

}  // namespace

bool any_sparse(std::span<const ReducedBags* const> tasks) {
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const ReducedBags* task) { return task->sums.layout() == BagSums::Layout::kSparse; });
}

Result<void> check_means(std::span<const ReducedBags* const> tasks) {
  double bags = 0;
  for (const ReducedBags* task : tasks) bags += static_cast<double>(task->sums.bags());
  return check_matrix("the means of bags", bags, static_cast<double>(tasks.back()->sums.features()),
                      "give the table in a sparse form, or take fewer features");
}

DenseRows dense_means(std::span<const ReducedBags* const> tasks) {
  DenseRows out(tasks.back()->sums.features());
  for (const ReducedBags* task : tasks) {
    const DenseRows means = task->sums.means();
    std::copy_n(means.view().values, means.rows() * means.columns(), out.append(means.rows()));
  }
  return out;
}

Result<Features> scaled_means(std::span<const ReducedBags* const> tasks, const Scaling& scaling) {
  if (!any_sparse(tasks)) {
    if (auto fits = check_means(tasks); !fits) return fits.error();
    DenseRows out = tasks.size() == 1 ? tasks[0]->sums.means() : dense_means(tasks);
    apply(scaling, out);
    return Features(std::move(out));
  }
  Csr out = sparse_means(tasks);
  if (scaling.factor.empty()) return Features(std::move(out));
  const bool shifted =
      std::any_of(scaling.shift.begin(), scaling.shift.end(), [](double s) { return s != 0; });
  const double bytes = 8.0 * static_cast<double>(out.rows()) * static_cast<double>(out.columns);
  if (shifted && bytes > kMostBytes) {
    return Error{
        fmt::format("scale: {} shifts the features, so that the means of {} bags are no longer sparse: {} "
                    "features of each "
                    "take {:.1f} GB; expected at most {:.0f} GB, or maxabs or none, which keep zeros",
                    scaling.kind, out.rows(), out.columns, bytes / 1e9, kMostBytes / 1e9)};
  }
  if (shifted) {
    if (auto fits = check_memory(bytes, "means that a shift fills up", "use the scale maxabs or none"); !fits)
      return fits.error();
  }
  return scaled_rows(scaling, out.view(), 0, out.rows());
}

}  // namespace bagwise
