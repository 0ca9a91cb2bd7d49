#include "bagwise/data/text/words.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

std::string words_of(std::string_view text) {
  std::string out;
  append_words(text, out);
  return out;
}

// The definition once more, character by character and without tables.
std::vector<std::string> twin(const std::string& text) {
  const auto lower = [](unsigned char c) -> unsigned {
    if (c >= '0' && c <= '9') return c;
    if (c >= 'a' && c <= 'z') return c;
    if (c >= 'A' && c <= 'Z') return c + 32U;
    if (c == 0xD7 || c == 0xF7 || c < 0xC0) return 0;
    return c < 0xDF ? c + 32U : c;
  };
  std::vector<std::string> out;
  std::vector<unsigned> word;
  const auto finish = [&] {
    if (word.size() > 2 && word[word.size() - 2] == '\'' && word.back() == 's') word.resize(word.size() - 2);
    bool letter = false;
    std::string made;
    for (const unsigned c : word) {
      letter = letter || c >= 'a';
      if (c < 0x80) {
        made += static_cast<char>(c);
      } else {
        made += static_cast<char>(0xC0 + c / 64);
        made += static_cast<char>(0x80 + c % 64);
      }
    }
    if (letter && word.size() >= 2) out.push_back(made);
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned c = lower(static_cast<unsigned char>(text[i]));
    const bool joins = text[i] == '\'' && !word.empty() && word.back() != '\'' && i + 1 < text.size() &&
                       lower(static_cast<unsigned char>(text[i + 1])) != 0;
    if (c != 0) {
      word.push_back(c);
    } else if (joins) {
      word.push_back('\'');
    } else {
      finish();
    }
  }
  finish();
  return out;
}

}  // namespace

TEST_CASE("words: lower case, at least two characters and a letter", "[data][words]") {
  CHECK(words_of("The X11R5 server: 486 at 33MHz, a C++ Program") == "the x11r5 server at 33mhz program");
  CHECK(words_of("").empty());
  CHECK(words_of(" 12 3 - x ").empty());
  CHECK(words_of("end") == "end");
}

TEST_CASE("words: an apostrophe joins, a final s behind one does not", "[data][words]") {
  CHECK(words_of("don't 'quoted' Baker's the dogs' rock'n'roll it''s") ==
        "don't quoted baker the dogs rock'n'roll it");
  CHECK(words_of("x's") == "");  // one letter is left
  CHECK(words_of("it'") == "it");
  CHECK(words_of("'s is") == "is");
}

TEST_CASE("words: latin-1 becomes UTF-8 in lower case", "[data][words]") {
  CHECK(words_of("M\xDCNCHEN stra\xDF"
                 "e \xC0\xE0 \xD7\xF7 na\xEFve") ==
        "m\xC3\xBCnchen stra\xC3\x9F"
        "e \xC3\xA0\xC3\xA0 na\xC3\xAFve");
  CHECK(words_of(std::string_view("nul\0byte \x92quote", 15)) == "nul byte quote");
}

TEST_CASE("words: any bytes give what the definition says", "[data][words]") {
  Rng rng(1);
  const std::string likely = "aZs'' 9\xE9\n";
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::uint64_t i = rng.below(40); i > 0; --i)
      text += rng.below(4) == 0 ? static_cast<char>(rng.below(256)) : likely[rng.below(likely.size())];
    std::vector<std::string> found;
    const std::string words = words_of(text);
    for_each_word(words, [&](std::string_view word) { found.emplace_back(word); });
    CHECK(found == twin(text));
  }
}

TEST_CASE("words: text is appended with one blank between", "[data][words]") {
  std::string out;
  append_words("First Text", out);
  append_words("  ", out);
  append_words("second", out);
  CHECK(out == "first text second");
}

TEST_CASE("words: function words are stop words and others are not", "[data][words]") {
  for (const char* word : {"the", "and", "don't", "ourselves", "without", "whether", "a", "ie"})
    CHECK(is_stop_word(word));
  for (const char* word : {"", "window", "bank", "reagan", "th", "thee", "and the"})
    CHECK_FALSE(is_stop_word(word));
}

}  // namespace bagwise
