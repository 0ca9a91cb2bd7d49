#include "bagwise/data/text/tf_idf.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "bagwise/core/random.h"
#include "bagwise/data/text/words.h"
#include "support/tf_idf_twin.h"

namespace bagwise {
namespace {

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

TEST_CASE("tf_idf: a case worked out by hand", "[data][tf_idf][known]") {
  // df: red 2, blue 2, green 1; the and is are stop words.
  const std::vector<std::string> texts = {"red red the blue", "blue is", "green red the the", "the"};
  const WordFeatures made = tf_idf(views(texts), 2);
  CHECK(made.words == std::vector<std::string>{"blue", "red"});
  CHECK(made.frequencies == std::vector<std::size_t>{2, 2});
  CHECK(made.rows.start == std::vector<std::int64_t>{0, 2, 3, 4, 4});
  CHECK(made.rows.index == std::vector<std::int32_t>{0, 1, 0, 1});
  const double once = std::log(2.0), twice = std::log(3.0);  // the idf log(4/2) of both cancels
  const double length = std::hypot(once, twice);
  CHECK(made.rows.values[0] == Approx(once / length).epsilon(1e-14));
  CHECK(made.rows.values[1] == Approx(twice / length).epsilon(1e-14));
  CHECK(made.rows.values[2] == 1);
  CHECK(made.rows.values[3] == 1);
}

TEST_CASE("tf_idf: a word in every text weighs nothing", "[data][tf_idf]") {
  const std::vector<std::string> texts = {"red blue", "red green", "red"};
  const WordFeatures made = tf_idf(views(texts), 10);
  CHECK(made.words == std::vector<std::string>{"red", "blue", "green"});
  CHECK(made.rows.index == std::vector<std::int32_t>{1, 2});
  CHECK(made.rows.start == std::vector<std::int64_t>{0, 1, 2, 2});  // the last row is all zeros
}

TEST_CASE("tf_idf: no texts and no words are no trouble", "[data][tf_idf]") {
  CHECK(tf_idf({}, 5).words.empty());
  const std::vector<std::string> texts = {"", "the of"};
  const WordFeatures made = tf_idf(views(texts), 5);
  CHECK(made.words.empty());
  CHECK(made.rows.rows() == 2);
}

TEST_CASE("tf_idf: random texts give what plain loops give", "[data][tf_idf]") {
  Rng rng(7);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> texts;
    for (std::uint64_t i = 1 + rng.below(12); i > 0; --i) {
      std::string text;
      for (std::uint64_t k = rng.below(25); k > 0; --k) {
        const std::string words[] = {"the", "ab", "ba",   "zz",  "don't",
                                     "x1",  "x2", "long", "w'w", "\xC3\xA9g"};
        text += (text.empty() ? "" : " ") + words[rng.below(std::size(words))];
      }
      texts.push_back(text);
    }
    const std::size_t most = rng.below(9);
    test::check_tf_idf(tf_idf(views(texts), most), texts, most);
  }
}

}  // namespace bagwise
