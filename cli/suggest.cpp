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

namespace {

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// How many slips a word of so many letters may have: with two letters nearly any word would be near.
std::size_t most_slips(std::size_t letters) {
  if (letters < 3) return 0;
  return letters < 6 ? 1 : std::max<std::size_t>(2, letters / 3);
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& otherwise) {
  const std::string* best = nullptr;
  const std::string_view letters = without_dashes(word);
  std::size_t least = most_slips(letters.size()) + 1;
  for (const std::string& candidate : known) {
    const std::string_view known_letters = without_dashes(candidate);
    // A beginning of a known word is as near as one slip; capitals and dashes are none.
    const bool same = same_but_for_case(letters, known_letters);
    const bool beginning = letters.size() >= 3 && known_letters.starts_with(letters);
    const std::size_t distance = same ? 0 : beginning ? 1 : edit_distance(letters, known_letters);
    if (distance < least) {
      least = distance;
      best = &candidate;
    }
  }
  return best == nullptr ? otherwise : fmt::format("did you mean {}?", *best);
}

}  // namespace bagwise::cli
