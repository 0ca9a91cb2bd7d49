#include "bagwise/data/internal/newsgroup_message.h"

#include <algorithm>

namespace bagwise::internal {
namespace {

// "Name:", the name of printable characters without blanks (RFC 1036).
bool starts_with_header(std::string_view message) {
  const auto end = std::find_if(message.begin(), message.end(), [](char c) { return c <= ' ' || c == ':'; });
  return end != message.begin() && end != message.end() && *end == ':';
}

}  // namespace

std::string_view message_id(std::string_view file_name) {
  const std::size_t last = file_name.rfind('/');
  if (last == std::string_view::npos || last + 1 == file_name.size() || file_name[last + 1] == '.') return {};
  const std::size_t before = last == 0 ? std::string_view::npos : file_name.rfind('/', last - 1);
  const std::size_t from = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view group = file_name.substr(from, last - from);
  if (!std::binary_search(kNewsgroups.begin(), kNewsgroups.end(), group)) return {};
  return file_name.substr(from);
}

std::string_view message_body(std::string_view message) {
  if (!starts_with_header(message)) return message;
  for (std::size_t at = message.find('\n'); at != std::string_view::npos; at = message.find('\n', at + 1)) {
    const std::string_view rest = message.substr(at + 1);
    if (rest.starts_with('\n')) return rest.substr(1);
    if (rest.starts_with("\r\n")) return rest.substr(2);
  }
  return {};
}

}  // namespace bagwise::internal
