#include <utility>

#include "bagwise/linalg/kernels.h"
#include "bagwise/solver/internal/svm_terms.h"
#include "bagwise/solver/svm.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise {
namespace {

class LinearSvm final : public Svm {
 public:
  LinearSvm(const RowsView& rows, unsigned threads) : threads_(threads) { problem_.rows = rows; }

  const SvmSolution& solve(std::span<const std::int8_t> labels, double cost, double gap,
                           const Observer& observer) override {
    internal::set_svm_terms(labels, cost, problem_);
    const bool warm = !last_.beta.empty();
    if (warm) {
      tube_.multipliers = internal::carried_over(last_.beta, cost / last_.cost, problem_);
      tube_.planes = {last_.weights, {Vector::Zero(last_.weights.size())}, {last_.bias}};
    }
    TubeOptions options{.gap_tolerance = gap, .algorithm = TubeAlgorithm::kSemismooth, .threads = threads_};
    tube_ = solve_tube_regression(problem_, options, warm ? &tube_ : nullptr, observer);
    if (tube_.report.termination == Termination::kIterationLimit) {
      options.algorithm = TubeAlgorithm::kAutomatic;  // the interior point goes on from there
      const int steps = tube_.report.iterations;
      tube_ = solve_tube_regression(problem_, options, &tube_, observer);
      tube_.report.iterations += steps;
    }
    last_.cost = cost;
    last_.report = tube_.report;
    last_.weights = tube_.planes.weights(0);
    last_.squared_norm = last_.weights.squaredNorm();
    last_.bias = tube_.planes.bias[0];
    last_.beta.resize(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i)
      last_.beta[i] = tube_.multipliers.below[i] - tube_.multipliers.above[i];
    last_.values.resize(labels.size());
    multiply(problem_.rows, last_.weights, last_.values, threads_);
    for (double& f : last_.values) f += last_.bias;
    return last_;
  }

  void start_from(const SvmSolution& solution) override { last_ = solution; }

 private:
  unsigned threads_;
  TubeProblem problem_;
  TubeSolution tube_;
  SvmSolution last_;
};

}  // namespace

std::unique_ptr<Svm> make_linear_svm(const RowsView& rows, unsigned threads) {
  return std::make_unique<LinearSvm>(rows, threads);
}

}  // namespace bagwise
