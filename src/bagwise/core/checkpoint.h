// Where long work leaves what it has reached, so that a later run of the same work goes on from there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bagwise/core/result.h"

namespace bagwise {

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  // Puts this state in the place of the last one, whole or not at all.
  virtual Result<void> save(std::string_view bytes) = 0;
  // The state that was saved last, by this run or one before it; nothing if there is none.
  virtual std::optional<std::string> load() = 0;
};

}  // namespace bagwise
