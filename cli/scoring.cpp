#include "cli/scoring.h"

#include <fmt/format.h>

#include <cmath>

namespace bagwise::cli {

Result<std::vector<double>> finite_scores(const Plane& plane, const TableBlock& block, unsigned threads,
                                          const std::string& file) {
  auto f = scores(plane, block.rows.features.view(), threads);
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (!std::isfinite(f[i])) {
      return Error{fmt::format("the score of row {} is not a finite number; expected values near those the "
                               "model was trained on",
                               block.first_row + i + 1),
                   file};
    }
  }
  return f;
}

Error at_prediction(Error error) {
  struct Hint {
    const char* of_training;  // how the hint begins; it ends the message
    const char* now;
  };
  constexpr Hint kHints[] = {
      {" (--missing ", " (the model was trained without --missing: fill the cell, or train again with it)"},
      {" (--one-hot ", " (the model takes numbers in this column: it was trained without --one-hot for it)"},
  };
  for (const Hint& hint : kHints) {
    const auto at = error.message.rfind(hint.of_training);
    if (at == std::string::npos || !error.message.ends_with(')')) continue;
    error.message.replace(at, std::string::npos, hint.now);
    break;
  }
  return error;
}

}  // namespace bagwise::cli
