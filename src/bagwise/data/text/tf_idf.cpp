#include "bagwise/data/text/tf_idf.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "bagwise/core/portable_math.h"
#include "bagwise/data/name_table.h"
#include "bagwise/data/text/words.h"

namespace bagwise {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

struct Counted {
  std::vector<std::vector<std::uint32_t>> texts;  // the numbers of their words, in order, repeats included
  std::vector<std::size_t> frequencies;           // per number
  NameTable names;
};

Counted count(std::span<const std::string_view> texts) {
  Counted out;
  std::vector<std::size_t> last;  // the text, from 1, that had the word last
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto& numbers = out.texts.emplace_back();
    for_each_word(texts[i], [&](std::string_view word) {
      const std::uint32_t w = out.names.number(word);
      if (w == last.size()) {
        last.push_back(0);
        out.frequencies.push_back(0);
      }
      if (last[w] != i + 1) ++out.frequencies[w];
      last[w] = i + 1;
      numbers.push_back(w);
    });
  }
  return out;
}

// The numbers of the chosen words, the first column first.
std::vector<std::uint32_t> choose(const Counted& counted, std::size_t most) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t w = 0; w < counted.names.size(); ++w) {
    if (!is_stop_word(counted.names.name(w))) order.push_back(w);
  }
  const std::size_t kept = std::min(most, order.size());
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (counted.frequencies[a] != counted.frequencies[b])
      return counted.frequencies[a] > counted.frequencies[b];
    return counted.names.name(a) < counted.names.name(b);
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), before);
  order.resize(kept);
  return order;
}

}  // namespace

WordFeatures tf_idf(std::span<const std::string_view> texts, std::size_t most) {
  const Counted counted = count(texts);
  const auto chosen = choose(counted, most);
  WordFeatures out;
  std::vector<std::uint32_t> column(counted.names.size(), kNone);
  std::vector<double> idf;
  for (const std::uint32_t w : chosen) {
    column[w] = static_cast<std::uint32_t>(out.words.size());
    out.words.emplace_back(counted.names.name(w));
    out.frequencies.push_back(counted.frequencies[w]);
    idf.push_back(
        portable_log(static_cast<double>(texts.size()) / static_cast<double>(counted.frequencies[w])));
  }
  out.rows.columns = chosen.size();
  std::vector<std::uint32_t> tf(chosen.size());
  for (const auto& numbers : counted.texts) {
    std::fill(tf.begin(), tf.end(), 0);
    for (const std::uint32_t w : numbers) {
      if (column[w] != kNone) ++tf[column[w]];
    }
    const std::size_t first = out.rows.values.size();
    double squares = 0;
    for (std::size_t j = 0; j < tf.size(); ++j) {
      const double value = tf[j] == 0 ? 0 : portable_log(1.0 + tf[j]) * idf[j];
      if (value == 0) continue;
      out.rows.index.push_back(static_cast<std::int32_t>(j));
      out.rows.values.push_back(value);
      squares += value * value;
    }
    const double length = std::sqrt(squares);
    for (std::size_t k = first; k < out.rows.values.size(); ++k) out.rows.values[k] /= length;
    out.rows.start.push_back(static_cast<std::int64_t>(out.rows.values.size()));
  }
  return out;
}

}  // namespace bagwise
