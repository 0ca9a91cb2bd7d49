#include <linear.h>

#include "alter_psvm/machines.h"
#include "alter_psvm/nodes.h"

namespace bagwise::bench {
namespace {

class Liblinear final : public Svm {
 public:
  explicit Liblinear(const RowsView& rows) : rows_(rows), nodes_(nodes_of<feature_node>(rows, 1)) {
    for (auto& row : nodes_) pointers_.push_back(row.data());
    set_print_string_function([](const char*) {});
  }

  const SvmSolution& solve(std::span<const std::int8_t> labels, double cost, double,
                           const Observer&) override {
    std::vector<double> targets(labels.begin(), labels.end());
    const auto columns = static_cast<int>(column_count(rows_));
    problem data{};
    data.l = static_cast<int>(labels.size());
    data.n = columns + 1;
    data.y = targets.data();
    data.x = pointers_.data();
    data.bias = 1;
    parameter how{};
    how.solver_type = L2R_L1LOSS_SVC_DUAL;
    how.C = cost;
    how.eps = 0.1;
    how.p = 0.1;
    model* found = train(&data, &how);
    const double sign = found->label[0] > 0 ? 1 : -1;
    last_.weights = sign * Eigen::Map<const Vector>(found->w, columns);
    last_.bias = sign * found->w[columns];
    free_and_destroy_model(&found);
    complete(rows_, last_);
    return last_;
  }
  void start_from(const SvmSolution&) override {}

 private:
  RowsView rows_;
  std::vector<std::vector<feature_node>> nodes_;
  std::vector<feature_node*> pointers_;
  SvmSolution last_;
};

}  // namespace

std::unique_ptr<Svm> make_liblinear(const RowsView& rows) { return std::make_unique<Liblinear>(rows); }

}  // namespace bagwise::bench
