#include <libsvm/svm.h>

#include "alter_psvm/machines.h"
#include "alter_psvm/nodes.h"

namespace bagwise::bench {
namespace {

class Libsvm final : public Svm {
 public:
  explicit Libsvm(const RowsView& rows) : rows_(rows), nodes_(nodes_of<svm_node>(rows, 0)) {
    for (auto& row : nodes_) pointers_.push_back(row.data());
    svm_set_print_string_function([](const char*) {});
  }

  const SvmSolution& solve(std::span<const std::int8_t> labels, double cost, double,
                           const Observer&) override {
    std::vector<double> targets(labels.begin(), labels.end());
    svm_problem data{static_cast<int>(labels.size()), targets.data(), pointers_.data()};
    svm_parameter how{};
    how.svm_type = C_SVC;
    how.kernel_type = LINEAR;
    how.C = cost;
    how.eps = 1e-3;
    how.cache_size = 1000;
    how.shrinking = 1;
    svm_model* model = svm_train(&data, &how);
    const double sign = model->label[0] > 0 ? 1 : -1;
    last_.weights = Vector::Zero(static_cast<Eigen::Index>(column_count(rows_)));
    for (int s = 0; s < model->l; ++s) {
      for (const svm_node* node = model->SV[s]; node->index != -1; ++node)
        last_.weights[node->index - 1] += sign * model->sv_coef[0][s] * node->value;
    }
    last_.bias = -sign * model->rho[0];
    svm_free_and_destroy_model(&model);
    complete(rows_, last_);
    return last_;
  }
  void start_from(const SvmSolution&) override {}

 private:
  RowsView rows_;
  std::vector<std::vector<svm_node>> nodes_;
  std::vector<svm_node*> pointers_;
  SvmSolution last_;
};

}  // namespace

std::unique_ptr<Svm> make_libsvm(const RowsView& rows) { return std::make_unique<Libsvm>(rows); }

}  // namespace bagwise::bench
