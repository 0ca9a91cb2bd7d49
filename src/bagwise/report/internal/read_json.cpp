#include "bagwise/report/internal/read_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "bagwise/core/limits.h"
#include "bagwise/core/memory_budget.h"

namespace bagwise {
namespace {

// What can be told of a text without understanding it.
struct Shape {
  int depth = 0;                        // of the deepest place, or the first one that is too deep
  std::size_t keys = 0, most_keys = 0;  // in all, and of one object; counting stops beyond the limits
  std::size_t values = 1,
              blocks = 0;  // at most: places in arrays and objects, and what has memory of its own

  // A value takes 16 bytes; arrays double and copy as they grow; a string or a container has a header.
  [[nodiscard]] double bytes() const {
    return 32.0 * static_cast<double>(values) + 48.0 * static_cast<double>(blocks);
  }
  [[nodiscard]] bool good() const {
    return depth <= limits::kDeepestJson && keys <= limits::kMostJsonKeys &&
           most_keys <= limits::kMostKeysOfObject;
  }
};

// The bytes until the quote that ends a text, or until the end.
std::size_t quoted_length(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i;
  }
  return text.size();
}

Shape shape_of(std::string_view text) {
  Shape out;
  std::vector<std::size_t> open;  // per container: its keys
  for (std::size_t i = 0; i < text.size() && out.good(); ++i) {
    switch (text[i]) {
      case '"':
        i += 1 + quoted_length(text.substr(i + 1));
        ++out.blocks;
        break;
      case '[':
      case '{':
        open.push_back(0);
        out.depth = std::max(out.depth, static_cast<int>(open.size()));
        ++out.blocks;
        ++out.values;
        break;
      case ']':
      case '}':
        if (!open.empty()) open.pop_back();
        break;
      case ',':
        ++out.values;
        break;
      case ':':
        ++out.keys;
        if (!open.empty()) out.most_keys = std::max(out.most_keys, ++open.back());
        break;
      default:
        break;
    }
  }
  return out;
}

Result<void> check_shape(std::string_view text, std::string_view expected) {
  const Shape shape = shape_of(text);
  if (shape.depth > limits::kDeepestJson)
    return Error{fmt::format("nests more than {} deep; expected {}", limits::kDeepestJson, expected)};
  if (shape.keys > limits::kMostJsonKeys)
    return Error{fmt::format("has more than {} keys; expected {}", limits::kMostJsonKeys, expected)};
  if (shape.most_keys > limits::kMostKeysOfObject)
    return Error{
        fmt::format("has an object of more than {} keys; expected {}", limits::kMostKeysOfObject, expected)};
  return check_memory(shape.bytes(), "what this file holds", "use a machine with more memory");
}

// The keys of every object that is open: one that comes twice would silently lose the first.
class KeyWatch {
 public:
  void see(Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event != Json::parse_event_t::key) return;
    const auto& key = parsed.get_ref<const std::string&>();
    if (!keys_.back().insert(key).second && twice_.empty()) {
      found_ = true;
      twice_ = key;
    }
  }
  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] const std::string& twice() const { return twice_; }

 private:
  std::vector<std::set<std::string>> keys_;
  bool found_ = false;
  std::string twice_;
};

// Where byte `at` (from 1) is: its line, and its place there.
Error not_json(std::string_view text, std::size_t at, const std::string& file, std::string_view expected) {
  const std::string_view before = text.substr(0, at > 0 ? at - 1 : 0);
  const auto line = static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  const std::string_view why = at > text.size() ? ": the file ends too early, it is truncated" : "";
  return {fmt::format("is not JSON{}; expected {}", why, expected), file, line, fmt::format("{}", column)};
}

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& file, std::string_view expected) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Error{fmt::format("is empty; expected {}", expected), file};
  // The parser takes a NUL for the end, and what is behind it for nothing.
  if (const std::size_t end = text.find('\0'); end != std::string_view::npos)
    return not_json(text, end + 1, file, expected);
  if (auto checked = check_shape(text, expected); !checked) return Error{checked.error().message, file};
  KeyWatch keys;
  try {
    Json document = Json::parse(text, [&](int, Json::parse_event_t event, Json& parsed) {
      keys.see(event, parsed);
      return true;
    });
    if (keys.found()) return Error{fmt::format("has the key \"{}\" twice in one object", keys.twice()), file};
    return document;
  } catch (const Json::parse_error& error) {
    return not_json(text, error.byte, file, expected);
  } catch (const Json::exception&) {
    return Error{"has a number that is out of range; expected finite numbers", file};
  }
}

std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 40;
  if (value.is_structured() && value.size() > kLongest) return fmt::format("of type {}", kind_of(value));
  const std::string text = to_text(value);
  return text.size() <= kLongest ? text : fmt::format("of type {}", kind_of(value));
}

}  // namespace bagwise
