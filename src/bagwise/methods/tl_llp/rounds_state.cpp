#include "bagwise/methods/tl_llp/rounds_state.h"

#include <limits>

#include "bagwise/methods/saved_state.h"

namespace bagwise {
namespace {

constexpr double kMostSteps = std::numeric_limits<int>::max();

void put(StateWriter& out, const std::vector<Vector>& vectors) {
  out.put_count(vectors.size());
  for (const Vector& v : vectors) out.put(v);
}
std::vector<Vector> vectors(StateReader& in) {
  std::vector<Vector> out(in.count());
  for (Vector& v : out) v = in.vector();
  return out;
}

void put(StateWriter& out, const TubeSolution& s) {
  out.put(s.planes.shared);
  put(out, s.planes.own);
  out.put(s.planes.bias);
  out.put(s.multipliers.above);
  out.put(s.multipliers.below);
  out.put(static_cast<double>(s.report.termination));
  out.put(s.report.primal);
  out.put(s.report.dual);
  out.put(s.report.iterations);
}
TubeSolution solution(StateReader& in) {
  TubeSolution out;
  out.planes.shared = in.vector();
  out.planes.own = vectors(in);
  out.planes.bias = in.list();
  out.multipliers.above = in.list();
  out.multipliers.below = in.list();
  out.report.termination = in.choice(Termination::kNumericalFault);
  out.report.primal = in.number();
  out.report.dual = in.number();
  out.report.iterations = static_cast<int>(in.whole(kMostSteps));
  out.report.algorithm = "checkpoint";
  return out;
}

}  // namespace

std::string RoundsState::to_bytes() const {
  StateWriter out;
  put(out, result.solution);
  out.put(result.objective);
  out.put(result.history);
  out.put(std::vector<double>(result.steps.begin(), result.steps.end()));
  out.put(static_cast<double>(result.end));
  out.put(result.move);
  for (const double v : {fall_before, expected, last ? 1.0 : 0.0}) out.put(v);
  put(out, now);
  out.put_count(visited.size());
  for (const Position& position : visited) {
    out.put(position.move);
    put(out, position.direction);
  }
  return out.take();
}

std::optional<RoundsState> RoundsState::from_bytes(std::string_view bytes) {
  StateReader in(bytes);
  RoundsState out;
  out.result.solution = solution(in);
  out.result.objective = in.number();
  out.result.history = in.list();
  const std::size_t solves = in.count();
  for (std::size_t i = 0; i < solves; ++i) out.result.steps.push_back(static_cast<int>(in.whole(kMostSteps)));
  out.result.end = in.choice(RoundsEnd::kNumericalFault);
  out.result.move = in.list();
  out.fall_before = in.number();
  out.expected = in.number();
  out.last = in.whole(1) != 0;
  out.now = solution(in);
  out.visited.resize(in.count());
  for (Position& position : out.visited) {
    position.move = in.list();
    position.direction = vectors(in);
  }
  if (!in.at_end()) return std::nullopt;
  return out;
}

}  // namespace bagwise
