#include "cli/suggest.h"

#include <fmt/format.h>

#include <algorithm>

namespace bagwise::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i of the table has the distances of the first i letters of `a` to every beginning of `b`.
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& otherwise) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    // A beginning of a known word is as near as one slip.
    const bool beginning = word.size() >= 4 && candidate.starts_with(word);
    const std::size_t distance = beginning ? 1 : edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = &candidate;
    }
  }
  return best == nullptr ? otherwise : fmt::format("did you mean {}?", *best);
}

}  // namespace bagwise::cli
