// The job: conv-pSVM's cutting planes on 2,000 x 200 in bags of 8, and its master problem alone.
//
// task.h owns the data, the result and what counts as the same answer; each competitor has a file of its own.
#pragma once

#include <vector>

#include "bagwise/data/generate.h"
#include "bagwise/methods/conv_psvm/conv_psvm.h"

namespace bagwise::bench {

// 2,000 instances of 200 features (preset related, the target's task), dealt into bags of 8.
BaggedData make_task(GeneratorKind kind);

// The same as dense rows by bag.
struct DenseTask {
  DenseRows rows;
  std::vector<std::size_t> bag_start;
  std::vector<double> proportions;
};
DenseTask dense_task(const BaggedData& data);

// The rounds from InvCal's labels, as the method makes them.
Cuts make_cuts(const DenseTask& task, const ConvPsvmOptions& options);

struct MasterAnswer {
  std::vector<double> mu;  // the weights of the labelings
  RowMatrix u;             // u_s, one row per labeling
  double seconds = 0;
};

// 1/2 sum_s |u_s|^2/mu_s + C sum_j hinge(sum_s y_sj u_s.x_j), by plain loops.
double master_value(const DenseTask& task, std::span<const Labels> labels, double cost,
                    const MasterAnswer& answer);

// From nothing, to a relative gap of 1e-6.
MasterAnswer solve_ours(const DenseTask& task, std::span<const Labels> labels, double cost);

// LIBLINEAR's L1-loss dual solver without bias on the rows (sqrt(mu_s) y_sj x_j)_s, then mu_s set to its
// share of |u_s|, which never raises the value, until that changes it by less than 1e-4 or a minute has
// passed.
MasterAnswer solve_liblinear(const DenseTask& task, std::span<const Labels> labels, double cost,
                             double tolerance);

}  // namespace bagwise::bench
