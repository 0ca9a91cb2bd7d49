// tf-idf by plain loops over maps, to hold data/text/tf_idf against.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "bagwise/data/text/tf_idf.h"
#include "bagwise/data/text/words.h"

namespace bagwise::test {

struct TfIdfTwin {
  std::vector<std::string> words;
  std::vector<std::vector<double>> rows;
};

inline TfIdfTwin tf_idf_twin(const std::vector<std::string>& texts, std::size_t most) {
  std::vector<std::map<std::string, int>> counts;
  std::map<std::string, int> frequencies;
  for (const std::string& text : texts) {
    auto& tf = counts.emplace_back();
    std::istringstream in(text);
    for (std::string word; in >> word;) {
      if (!is_stop_word(word)) ++tf[word];
    }
    for (const auto& entry : tf) ++frequencies[entry.first];
  }
  TfIdfTwin out;
  std::vector<double> idf;
  while (out.words.size() < most &&
         !frequencies.empty()) {  // the largest, of equals the first, again and again
    auto best = frequencies.begin();
    for (auto at = frequencies.begin(); at != frequencies.end(); ++at) {
      if (at->second > best->second) best = at;
    }
    out.words.push_back(best->first);
    idf.push_back(std::log(static_cast<double>(texts.size()) / best->second));
    frequencies.erase(best);
  }
  for (const auto& tf : counts) {
    auto& row = out.rows.emplace_back();
    double squares = 0;
    for (std::size_t j = 0; j < out.words.size(); ++j) {
      row.push_back(tf.contains(out.words[j]) ? std::log(1.0 + tf.at(out.words[j])) * idf[j] : 0);
      squares += row.back() * row.back();
    }
    for (double& value : row) value = squares > 0 ? value / std::sqrt(squares) : 0;
  }
  return out;
}

// The values of a row by their columns.
inline std::vector<double> plain_row(const CsrView& rows, std::size_t i) {
  std::vector<double> out(rows.columns, 0.0);
  for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]); ++k)
    out[static_cast<std::size_t>(rows.index[k])] = rows.values[k];
  return out;
}

inline void check_rows(const CsrView& rows, const std::vector<std::vector<double>>& expected) {
  REQUIRE(rows.rows == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto row = plain_row(rows, i);
    REQUIRE(row.size() == expected[i].size());
    for (std::size_t j = 0; j < row.size(); ++j) worst = std::max(worst, std::abs(row[j] - expected[i][j]));
  }
  CHECK(worst <= 1e-14);
}

inline void check_tf_idf(const WordFeatures& made, const std::vector<std::string>& texts, std::size_t most) {
  const TfIdfTwin twin = tf_idf_twin(texts, most);
  CHECK(made.words == twin.words);
  check_rows(made.rows.view(), twin.rows);
}

}  // namespace bagwise::test
