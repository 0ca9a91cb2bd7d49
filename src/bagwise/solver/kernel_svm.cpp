#include <utility>

#include "bagwise/solver/internal/certificate.h"
#include "bagwise/solver/internal/kernel_point.h"
#include "bagwise/solver/internal/svm_terms.h"
#include "bagwise/solver/svm.h"

namespace bagwise {
namespace {

// Columns from a cache: the last two asked for are held.
class CachedColumns final : public internal::KernelColumns {
 public:
  explicit CachedColumns(KernelCache& cache) : cache_(cache) {}
  [[nodiscard]] std::span<const double> diagonal() const override { return cache_.diagonal(); }
  const double* column(std::size_t i) override {
    before_ = std::exchange(last_, cache_.column(i));
    return last_->data();
  }

 private:
  KernelCache& cache_;
  KernelCache::Column last_, before_;
};

class KernelSvm final : public Svm {
 public:
  explicit KernelSvm(std::shared_ptr<KernelCache> cache) : cache_(std::move(cache)), columns_(*cache_) {}

  const SvmSolution& solve(std::span<const std::int8_t> labels, double cost, double gap,
                           const Observer& observer) override {
    internal::set_svm_terms(labels, cost, terms_);
    std::vector<double> beta(labels.size(), 0.0);
    if (!last_.beta.empty()) {
      const TubeMultipliers m = internal::carried_over(last_.beta, cost / last_.cost, terms_);
      for (std::size_t i = 0; i < beta.size(); ++i) beta[i] = m.below[i] - m.above[i];
    }
    KernelTubeSolution s = internal::certify_point(terms_, columns_, beta, gap, "smo");
    const auto n = static_cast<std::int64_t>(labels.size());
    if (!internal::finished(s))
      s = internal::solve_smo(terms_, columns_, gap, 100'000 + 100 * n, std::move(s), observer);
    last_.cost = cost;
    last_.report = s.report;
    last_.bias = s.bias[0];
    last_.squared_norm = 0;
    for (std::size_t i = 0; i < beta.size(); ++i) last_.squared_norm += s.beta[i] * (s.values[i] - s.bias[0]);
    last_.beta = std::move(s.beta);
    last_.values = std::move(s.values);
    return last_;
  }

  void start_from(const SvmSolution& solution) override { last_ = solution; }

 private:
  std::shared_ptr<KernelCache> cache_;
  CachedColumns columns_;
  TubeProblem terms_;
  SvmSolution last_;
};

}  // namespace

std::unique_ptr<Svm> make_kernel_svm(std::shared_ptr<KernelCache> cache) {
  return std::make_unique<KernelSvm>(std::move(cache));
}

}  // namespace bagwise
