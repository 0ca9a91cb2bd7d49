// Messages of 20 Newsgroups: the first line is the name of the file, the rest is in it.
#include <algorithm>

#include "bagwise/data/internal/newsgroup_message.h"
#include "bagwise/data/text/words.h"
#include "harness.h"

namespace bagwise::fuzz {

const Bound kBound{.fixed = kMiB, .per_byte = 64};

void fuzz_one(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view name = input.substr(0, end), message = input.substr(std::min(end + 1, input.size()));
  const std::string_view id = internal::message_id(name);
  if (!id.empty()) {
    require(name.ends_with(id), "an id is the end of a name");
    require(
        std::ranges::find(internal::kNewsgroups, id.substr(0, id.find('/'))) != internal::kNewsgroups.end(),
        "a message is in a group");
  }
  const std::string_view body = internal::message_body(message);
  require(message.ends_with(body), "the body is the end of a message");
  std::string words;
  append_words(body, words);
  for_each_word(words, [](std::string_view word) {
    require(word.size() >= 2, "a word has two characters");
    static_cast<void>(is_stop_word(word));
  });
}

}  // namespace bagwise::fuzz
