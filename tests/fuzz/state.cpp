// The state of a fit in a checkpoint.
#include "bagwise/methods/tl_llp/rounds_state.h"
#include "harness.h"

namespace bagwise::fuzz {

const Bound kBound{.fixed = kMiB, .per_byte = 256};

void fuzz_one(std::string_view input) {
  const auto state = RoundsState::from_bytes(input);
  if (!state) return;
  const std::string bytes = state->to_bytes();
  const auto back = RoundsState::from_bytes(bytes);
  require(back && back->to_bytes() == bytes, "what is written reads back the same");
}

}  // namespace bagwise::fuzz
