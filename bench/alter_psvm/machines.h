// The machines of other libraries behind our interface, so that the alternation around them is the same.
#pragma once

#include <memory>

#include "bagwise/solver/svm.h"

namespace bagwise::bench {

// LIBSVM's C-SVC with its linear kernel, tolerance 1e-3 (its default): it cannot start from a solution.
std::unique_ptr<Svm> make_libsvm(const RowsView& rows);

// LIBLINEAR's L1-loss dual SVC, tolerance 0.1 (its default), with a constant feature for the bias, which it
// regularises as well: another problem, whose plane is judged by ours.
std::unique_ptr<Svm> make_liblinear(const RowsView& rows);

}  // namespace bagwise::bench
