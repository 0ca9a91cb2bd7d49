// From texts to features: the words of highest document frequency, weighted and scaled to length 1.
//
//   df(w)    = the number of texts that have w;  N = the number of texts;  tf(w, i) = how often text i has w
//   idf(w)   = log(N / df(w))
//   x_i(w)   = log(1 + tf(w, i)) idf(w) / |the same over all chosen words|,   all zeros if that length is 0
//
// The same bits on every machine: the logarithm is core/portable_math's.
// Test: tf_idf_test.cpp evaluates these formulas by plain loops.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/linalg/rows.h"

namespace bagwise {

struct WordFeatures {
  std::vector<std::string> words;  // by descending document frequency; of equals the lower in bytes first
  std::vector<std::size_t> frequencies;  // df of each
  Csr rows;                              // one per text, one column per word
};

// `texts` are words with blanks between them (text/words.h). Stop words are never chosen; at most `most`
// words are, fewer if there are not so many.
WordFeatures tf_idf(std::span<const std::string_view> texts, std::size_t most);

}  // namespace bagwise
