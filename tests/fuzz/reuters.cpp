// Files of Reuters-21578.
#include <algorithm>
#include <set>
#include <utility>

#include "bagwise/data/internal/reuters_sgml.h"
#include "harness.h"

namespace bagwise::fuzz {

const Bound kBound{.fixed = kMiB, .per_byte = 512};

void fuzz_one(std::string_view input) {
  const auto documents = internal::parse_reuters(input);
  if (!documents) {
    const auto lines = static_cast<std::uint64_t>(std::count(input.begin(), input.end(), '\n')) + 1;
    require(documents.error().line >= 1 && documents.error().line <= lines,
            "an error has a line of the file");
    return require_error(documents.error());
  }
  for (const Document& document : *documents) {
    require(!document.id.empty() && document.id.find_first_not_of("0123456789") == std::string::npos,
            "a document's id is a number");
    std::set<std::pair<std::string, std::string>> seen;
    for (const auto& category : document.categories)
      require(!category.value.empty() && seen.insert({category.tag, category.value}).second,
              "a document has a category once");
    require(document.words.find("  ") == std::string::npos && !document.words.starts_with(' '),
            "words have one blank between them");
    require(document.bytes <= input.size(), "a document is a part of its file");
  }
}

}  // namespace bagwise::fuzz
