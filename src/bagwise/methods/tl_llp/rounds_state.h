// Where rounds stand after one of them: enough to go on as if nothing had happened.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/methods/tl_llp/uncertain_tube.h"

namespace bagwise {

struct RoundsState {
  RoundsResult result;  // so far; its end is kRoundLimit while there is more to do
  // Exact rounds: what is expected of the next (uncertain_tube.cpp).
  double fall_before = 1, expected = 1;
  bool last = false;
  // Literal rounds: the last solution, and where rows have stood.
  TubeSolution now;
  struct Position {
    std::vector<double> move;
    std::vector<Vector> direction;
  };
  std::vector<Position> visited;

  [[nodiscard]] std::size_t rounds() const { return result.history.size(); }
  // Numbers to the bit. Nothing where the bytes are not such a state.
  [[nodiscard]] std::string to_bytes() const;
  static std::optional<RoundsState> from_bytes(std::string_view bytes);
};

}  // namespace bagwise
