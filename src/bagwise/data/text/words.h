// Words of a text: lower case, told apart from everything that is not a word.
//
// A word is a run of letters and digits of at least two characters that has a letter. Letters are those of
// ASCII and of latin-1. An apostrophe between two characters of a word belongs to it ("don't"), but a final
// 's is cut off ("Baker's" is "baker").
#pragma once

#include <string>
#include <string_view>

namespace bagwise {

// Appends the words of `latin1` to `out` as UTF-8, each with a blank before it unless it is the first of all.
void append_words(std::string_view latin1, std::string& out);

// Calls each(word) for the words of a text that append_words() made.
template <class Each>
void for_each_word(std::string_view words, Each&& each) {
  while (!words.empty()) {
    const std::size_t end = words.find(' ');
    each(words.substr(0, end));
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
}

// English words that say how a sentence is built rather than what it is about: articles, pronouns,
// prepositions, conjunctions, auxiliaries and their contractions, and the commonest adverbs.
bool is_stop_word(std::string_view word);

}  // namespace bagwise
