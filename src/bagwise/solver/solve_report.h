// How a solve ended, with the certificate of its answer.
#pragma once

#include <string_view>

namespace bagwise {

enum class Termination {
  kConverged,       // gap <= gap_tolerance * |primal| (log_cosh.h: its gradient norm); the point is usable
  kIterationLimit,  // usable, but the gap is larger than asked
  kStopped,         // an observer asked to stop; usable
  kNumericalFault,  // a non-finite value appeared; the point is NOT usable
};

constexpr std::string_view to_string(Termination t) {
  switch (t) {
    case Termination::kConverged:
      return "converged";
    case Termination::kIterationLimit:
      return "iteration-limit";
    case Termination::kStopped:
      return "stopped";
    case Termination::kNumericalFault:
      return "numerical-fault";
  }
  return "";
}

// primal and dual are recomputed from the returned point alone: dual <= optimum <= primal.
struct SolveReport {
  Termination termination = Termination::kIterationLimit;
  double primal = 0;
  double dual = 0;
  int iterations = 0;
  std::string_view algorithm;  // the one that gave the answer

  [[nodiscard]] double gap() const { return primal - dual; }
  // gap / |primal|; 0 if both are 0. No max(1, .) in the denominator.
  [[nodiscard]] double relative_gap() const {
    if (primal == dual) return 0;
    return gap() / (primal < 0 ? -primal : primal);
  }
};

}  // namespace bagwise
