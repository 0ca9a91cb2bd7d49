#include "bagwise/data/internal/reuters_sgml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "bagwise/data/csv_records.h"
#include "bagwise/data/name_table.h"
#include "bagwise/data/text/words.h"

namespace bagwise::internal {
namespace {

constexpr auto kNowhere = std::string_view::npos;
constexpr std::size_t kLongestEntity = 10;  // "&#x0000FF;"

std::optional<std::uint64_t> number(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What the entity `name` (without & and ;) stands for, if it is one we know.
std::optional<char> entity(std::string_view name) {
  if (name == "lt") return '<';
  if (name == "gt") return '>';
  if (name == "amp") return '&';
  if (name == "quot") return '"';
  if (name == "apos") return '\'';
  if (!name.starts_with('#')) return std::nullopt;
  const bool hexadecimal = name.starts_with("#x") || name.starts_with("#X");
  const auto code = number(name.substr(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10);
  if (!code) return std::nullopt;
  return *code > ' ' && *code < 256 ? static_cast<char>(static_cast<unsigned char>(*code)) : ' ';
}

// The start tag <NAME> or <NAME ...> at or after `from`; its first byte and the byte after it.
struct Tag {
  std::size_t from = kNowhere, end = kNowhere;
  [[nodiscard]] bool there() const { return end != kNowhere; }
};
Tag find_tag(std::string_view text, std::string_view name, std::size_t from = 0) {
  const std::string opening = fmt::format("<{}", name);
  for (std::size_t at = text.find(opening, from); at != kNowhere; at = text.find(opening, at + 1)) {
    const std::size_t after = at + opening.size();
    if (after == text.size() || (text[after] != '>' && text[after] != ' ' && text[after] != '\n' &&
                                 text[after] != '\r' && text[after] != '\t')) {
      continue;  // the start of a longer name
    }
    const std::size_t end = text.find('>', after);
    return {at, end == kNowhere ? kNowhere : end + 1};
  }
  return {};
}

// The value of NAME="value" or NAME='value' or NAME=value within a start tag.
std::optional<std::string_view> attribute(std::string_view tag, std::string_view name) {
  constexpr std::string_view kBlanks = " \t\r\n";
  for (std::size_t at = tag.find(name); at != kNowhere; at = tag.find(name, at + 1)) {
    if (at == 0 || kBlanks.find(tag[at - 1]) == kNowhere) continue;  // the end of a longer name
    std::size_t from = tag.find_first_not_of(kBlanks, at + name.size());
    if (from == kNowhere || tag[from] != '=') continue;
    from = tag.find_first_not_of(kBlanks, from + 1);
    if (from == kNowhere) return std::nullopt;
    const bool quoted = tag[from] == '"' || tag[from] == '\'';
    const std::size_t end = quoted ? tag.find(tag[from], from + 1) : tag.find_first_of(" \t\r\n>", from);
    if (end == kNowhere) return std::nullopt;
    from += quoted ? 1 : 0;
    return tag.substr(from, end - from);
  }
  return std::nullopt;
}

// One document, from its <REUTERS to before its </REUTERS>.
class DocumentParser {
 public:
  DocumentParser(std::string_view file, std::size_t from, std::size_t start_tag_end, std::size_t end)
      : file_(file),
        tag_(file.substr(from, start_tag_end - from)),
        content_(file.substr(start_tag_end, end - start_tag_end)) {}

  Result<Document> parse() {
    Document out;
    const auto newid = attribute(tag_, "NEWID");
    const auto id = newid ? number(*newid) : std::nullopt;
    if (!id) {
      return fault(tag_, newid ? fmt::format("NEWID {} is not a whole number", shown_text(*newid))
                               : "this document has no NEWID; expected <REUTERS ... NEWID=\"n\">");
    }
    out.id = fmt::format("{}", *id);
    const Tag text_tag = find_tag(content_, "TEXT");
    const std::string_view head = content_.substr(0, text_tag.from);
    for (const auto& [tag, element] :
         {std::pair("places", "PLACES"), {"people", "PEOPLE"}, {"orgs", "ORGS"}}) {
      if (auto added = add_categories(head, tag, element, out); !added) return added.error();
    }
    const auto text = find_element(content_, "TEXT");
    if (!text) return text.error();
    out.has_body = false;
    if (!*text) return out;
    out.bytes = (*text)->size();
    out.hash = NameTable::hash(**text);
    const auto title = find_element(**text, "TITLE"), body = find_element(**text, "BODY");
    if (!title) return title.error();
    if (!body) return body.error();
    out.has_body = body->has_value();
    if (*title) append_words(without_entities(**title), out.words);
    if (*body) append_words(without_entities(**body), out.words);
    if (!*title && !*body) append_words(without_entities(**text), out.words);
    return out;
  }

 private:
  // An error at the line where `at`, a piece of the file, begins.
  [[nodiscard]] Error fault(std::string_view at, std::string message) const {
    const auto lines = std::count(file_.data(), at.data(), '\n');
    return {std::move(message), {}, static_cast<std::uint64_t>(lines) + 1};
  }

  // What stands between <NAME> and </NAME> in `text`, if it has such an element.
  [[nodiscard]] Result<std::optional<std::string_view>> find_element(std::string_view text,
                                                                     std::string_view name) const {
    const Tag tag = find_tag(text, name);
    if (tag.from == kNowhere) return std::optional<std::string_view>();
    const std::size_t end = tag.there() ? text.find(fmt::format("</{}>", name), tag.end) : kNowhere;
    if (end == kNowhere)
      return fault(text.substr(tag.from), fmt::format("<{0}> does not end; expected </{0}>", name));
    return std::optional(text.substr(tag.end, end - tag.end));
  }

  [[nodiscard]] Result<void> add_categories(std::string_view head, const char* tag, const char* element,
                                            Document& to) const {
    const auto found = find_element(head, element);
    if (!found) return found.error();
    std::string_view rest = *found ? **found : std::string_view();
    std::unordered_set<std::string> seen;
    for (;;) {
      const auto value = find_element(rest, "D");
      if (!value) return value.error();
      if (!*value) return {};
      rest.remove_prefix(static_cast<std::size_t>((*value)->data() + (*value)->size() - rest.data()));
      std::string text = without_entities(**value);
      if (!text.empty() && seen.insert(text).second) to.categories.push_back({tag, std::move(text)});
    }
  }

  std::string_view file_;
  std::string_view tag_, content_;
};

std::uint64_t line_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint64_t>(
             std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
         1;
}

}  // namespace

std::string reuters_file(int number) { return fmt::format("reut2-{:03}.sgm", number); }

std::string without_entities(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '&' ? text.substr(i, kLongestEntity).find(';') : kNowhere;
    const auto meaning = end == kNowhere ? std::nullopt : entity(text.substr(i + 1, end - 1));
    out += meaning.value_or(text[i]);
    if (meaning) i += end;
  }
  return out;
}

Result<std::vector<Document>> parse_reuters(std::string_view bytes) {
  std::vector<Document> out;
  for (Tag tag = find_tag(bytes, "REUTERS"); tag.from != kNowhere;) {
    const std::size_t end = tag.there() ? bytes.find("</REUTERS>", tag.end) : kNowhere;
    const Tag next = tag.there() ? find_tag(bytes, "REUTERS", tag.end) : Tag{};
    if (end == kNowhere || next.from < end) {
      return Error{
          "the document that starts here does not end; expected </REUTERS>", {}, line_at(bytes, tag.from)};
    }
    auto document = DocumentParser(bytes, tag.from, tag.end, end).parse();
    if (!document) return document.error();
    out.push_back(std::move(*document));
    tag = next;
  }
  return out;
}

}  // namespace bagwise::internal
