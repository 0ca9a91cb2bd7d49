// LIBSVM's epsilon-SVR on a precomputed kernel, for the benchmarks that measure against it.
#pragma once

#include <libsvm/svm.h>

#include <vector>

#include "bagwise/core/timing.h"
#include "bagwise/linalg/rows.h"

namespace bagwise::bench {

struct SvmAnswer {
  Vector beta;  // one per row
  double bias = 0;
  double seconds = 0;  // of training alone, the kernel being given
};

inline SvmAnswer train_svm(const RowMatrix& kernel, std::vector<double> target, double cost, double tube,
                           double tolerance) {
  const auto n = static_cast<int>(target.size());
  std::vector<std::vector<svm_node>> rows(target.size());
  std::vector<svm_node*> pointers;
  for (int i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row.push_back({0, static_cast<double>(i + 1)});
    for (int j = 0; j < n; ++j) row.push_back({j + 1, kernel(i, j)});
    row.push_back({-1, 0});
    pointers.push_back(row.data());
  }
  svm_problem data{n, target.data(), pointers.data()};
  svm_parameter parameter{};
  parameter.svm_type = EPSILON_SVR;
  parameter.kernel_type = PRECOMPUTED;
  parameter.C = cost;
  parameter.p = tube;
  parameter.eps = tolerance;
  parameter.cache_size = 1000;
  parameter.shrinking = 1;
  svm_set_print_string_function([](const char*) {});

  const Stopwatch watch;
  svm_model* model = svm_train(&data, &parameter);
  SvmAnswer answer{Vector::Zero(n), -model->rho[0], watch.seconds()};
  for (int k = 0; k < model->l; ++k)
    answer.beta[static_cast<int>(model->SV[k][0].value) - 1] = model->sv_coef[0][k];
  svm_free_and_destroy_model(&model);
  return answer;
}

}  // namespace bagwise::bench
