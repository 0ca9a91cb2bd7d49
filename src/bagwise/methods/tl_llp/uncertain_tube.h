// Tube regression on means that are known only up to a bound: the problem behind TL-LLP's alternation.
//
//   F(w_0, v, b) = 1/2 |w_0|^2 + sum_t lambda_t/2 |v_t|^2
//                + sum_i above_i max(0, r_i - eps_i - bound_i |S w_t|) + below_i max(0, -r_i - eps_i -
//                bound_i |S w_t|)
//
// with r_i = w_t.a_i + b_t - y_i. Row i may stand anywhere within bound_i of a_i (measured before the scaling
// S of the features), and takes the place that suits the planes best; hence the widened tube. F is not
// convex:
// -|S w_t| bends the wrong way. It is lowered by convex-concave rounds: |S w_t| >= u_t.w_t with
// u_t = S S w / |S w| at the planes of the last round, with equality there. Putting u_t.w_t in its place
// gives a convex problem (tube_problem.h with shifts -bound_i along u_t) that lies above F and touches it at
// the last planes, so its solution cannot have a higher F.
//
// Given   a tube problem without shifts, the bound of each row, the scaling of the features.
// Returns planes, F of every round, and the solution of the last convex problem with its certificate.
// See     SPEC of the method in docs/methods/tl-llp.md; Yuille and Rangarajan (2003), The concave-convex
// procedure. Test    uncertain_tube_test.cpp recomputes F by plain loops and runs an independent loop.
#pragma once

#include <functional>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise {

struct UncertainTube {
  TubeProblem problem;          // without shifts
  std::vector<double> bound;    // one per row, >= 0
  std::vector<double> stretch;  // the diagonal of S, one per feature; empty: 1
};

// |S w|: how far a step of length 1 along the raw features can change w.x.
double stretched_norm(const std::vector<double>& stretch, const Vector& w);

// u = S S w / |S w|, the direction along which a raw step of length 1 raises w.x most; 0 for w = 0.
Vector steepest_direction(const std::vector<double>& stretch, const Vector& w);

// F at any planes, from scratch.
double uncertain_value(const UncertainTube& tube, const TubePlanes& planes, unsigned threads = 1);

struct RoundsState;  // rounds_state.h

struct RoundsOptions {
  double tolerance = 1e-3;  // stop when |F_i - F_{i-1}| <= tolerance * max(|F_i|, |F_{i-1}|)
  int max_rounds = 20;
  TubeOptions solve = {};
  // Is told after every round where the rounds stand; kStop ends them as an observer would.
  std::function<Next(const RoundsState&)> after_round = {};
  const RoundsState* from = nullptr;  // goes on from there, with the same bits; null: begins
};

enum class RoundsEnd {
  kConverged,
  kRoundLimit,  // F still fell by more than the tolerance
  kCycle,       // the iterates came back to where they had been; the best of them is returned
  kStopped,
  kSolveLimit,  // a convex problem was not solved to the gap asked for
  kNumericalFault,
};

// How rounds went, whatever was solved in them.
struct RoundsCourse {
  double objective = 0;         // of the round that is returned
  std::vector<double> history;  // of every round
  std::vector<int> steps;       // of each round's solve
  RoundsEnd end = RoundsEnd::kConverged;
  double first_solve_seconds = 0;  // of the first round alone
};

struct RoundsResult : RoundsCourse {
  TubeSolution
      solution;  // of the convex problem of the round that is returned; the objective is F at its planes
  std::vector<double> move;  // literal rounds: how far each row stands moved along u_t
};

// Whether a round's solve ended so that the rounds end with it, and how.
bool ends_rounds(Termination termination, RoundsEnd& end);
// Converged rounds whose answer is of a solve that fell short say so.
RoundsEnd with_gap(RoundsEnd end, const SolveReport& returned);

// |before - now| <= tolerance * max(|before|, |now|)
bool is_small_change(double before, double now, double tolerance);

// Convex-concave rounds from shifts of 0, or from the planes of `start` (the solution of a problem nearby).
// The history never rises. From a start, rounds also end where the convex problem lies no more than the
// tolerance above F at its solution: the next one would be the same.
RoundsResult exact_rounds(const UncertainTube& tube, const RoundsOptions& options,
                          const Observer& observer = {}, const TubeSolution* start = nullptr);

// The alternation as it was printed: solve with every row where it stands moved, then move the rows by
// `moves` (per row the signed distance along u_t for these planes), and so on. Not a descent: the best round
// is returned, and a return to an earlier position ends the rounds as a cycle. The objective is that of the
// convex problem of its round.
// The only error is one of `moves`.
using Moves = std::function<Result<std::vector<double>>(const TubePlanes& planes)>;
Result<RoundsResult> literal_rounds(const UncertainTube& tube, const Moves& moves,
                                    const RoundsOptions& options, const Observer& observer = {});

}  // namespace bagwise
