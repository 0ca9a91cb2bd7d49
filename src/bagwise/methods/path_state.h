// What one fit of a path of settings leaves for the next: where its solve ended.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/methods/bag_labels.h"
#include "bagwise/methods/registry.h"
#include "bagwise/solver/svm.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise {

struct PathState {
  std::optional<TubeSolution> last;
  std::optional<DenseRows> means;  // of the bags of all tasks, not yet scaled

  // Of methods that label rows: their labels, and the machine that was trained on them at this cost.
  struct Labelled {
    Labels labels;
    SvmSolution machine;
    double cost = 0;
    std::string init;  // the option of that name: where the labels come from in the end
  };
  std::optional<Labelled> labelled;

  // Of conv-pSVM: the labelings that mattered, and the epsilon that they are feasible for.
  struct Cut {
    std::vector<Labels> labels;
    double epsilon = 0;
  };
  std::optional<Cut> cut;

  // Of tl-count: its planes, found at this cost, and the scaling and kernel in whose coordinates they are
  // planes.
  struct Counted {
    TubePlanes planes;
    double cost = 0;
    std::string coordinates;
  };
  std::optional<Counted> counted;

  // Where a solve of this problem may start; null: nowhere near.
  [[nodiscard]] const TubeSolution* start_for(const TubeProblem& problem) const {
    const bool fits = last && last->multipliers.above.size() == problem.size() &&
                      last->planes.own.size() == problem.tasks() &&
                      static_cast<std::size_t>(last->planes.shared.size()) == problem.features();
    return fits ? &*last : nullptr;
  }
};

// On a path solves are as rough as choosing among settings allows.
inline double gap_on_path(double gap, const Context& context) {
  return context.path == nullptr ? gap : std::max(gap, kPathGap);
}

}  // namespace bagwise
