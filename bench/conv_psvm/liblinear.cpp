// LIBLINEAR as the machine inside the master problem: no bias, and the labelings' planes side by side.
#include <linear.h>

#include <cmath>
#include <limits>

#include "bagwise/core/timing.h"
#include "conv_psvm/task.h"

namespace bagwise::bench {

MasterAnswer solve_liblinear(const DenseTask& task, std::span<const Labels> labels, double cost,
                             double tolerance) {
  const std::size_t n = task.rows.rows(), d = task.rows.columns(), count = labels.size();
  // Rows are given with the label y_1j and the features y_1j sqrt(mu_s) y_sj x_j, so that both classes are
  // there; the product that the loss sees is the same.
  std::vector<std::vector<feature_node>> nodes(n);
  std::vector<feature_node*> pointers;
  std::vector<double> y(n);
  for (std::size_t j = 0; j < n; ++j) {
    y[j] = labels[0][j];
    nodes[j].resize(count * d + 1);
    for (std::size_t k = 0; k < count * d; ++k) nodes[j][k].index = static_cast<int>(k + 1);
    nodes[j].back() = {-1, 0};
    pointers.push_back(nodes[j].data());
  }
  problem data{static_cast<int>(n), static_cast<int>(count * d), y.data(), pointers.data(), -1};
  parameter options{};
  options.solver_type = L2R_L1LOSS_SVC_DUAL;
  options.C = cost;
  options.eps = tolerance;
  set_print_string_function([](const char*) {});

  const Stopwatch watch;
  MasterAnswer out{std::vector<double>(count, 1.0 / static_cast<double>(count)), {}, 0};
  double last = std::numeric_limits<double>::infinity();
  for (;;) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t s = 0; s < count; ++s) {
        const double factor = std::sqrt(out.mu[s]) * labels[s][j] * labels[0][j];
        for (std::size_t c = 0; c < d; ++c) nodes[j][s * d + c].value = factor * task.rows(j, c);
      }
    }
    model* trained = train(&data, &options);
    const double sign = trained->label[0] == 1 ? 1 : -1;
    out.u.resize(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(d));
    for (std::size_t s = 0; s < count; ++s) {
      for (std::size_t c = 0; c < d; ++c) {
        out.u(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(c)) =
            sign * std::sqrt(out.mu[s]) * trained->w[s * d + c];
      }
    }
    free_and_destroy_model(&trained);
    const Vector length = out.u.rowwise().norm();
    for (std::size_t s = 0; s < count; ++s) out.mu[s] = length[static_cast<Eigen::Index>(s)] / length.sum();
    const double value = master_value(task, labels, cost, out);
    if (count == 1 || last - value < 1e-4 * value || watch.seconds() > 60) break;
    last = value;
  }
  out.seconds = watch.seconds();
  return out;
}

}  // namespace bagwise::bench
