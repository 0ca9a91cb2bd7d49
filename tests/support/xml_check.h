// Whether a text is well-formed XML, as far as charts and pages need it: a twin that shares nothing with
// them.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bagwise::test {

// What an element tree is made of, in order: "<name", "attribute=value" (unescaped), text (unescaped),
// ">name".
struct XmlEvents {
  std::vector<std::string> elements;  // names, in order of opening
  std::vector<std::string> texts;     // unescaped; those of white space alone are left out
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string fault;  // empty: well formed
};

namespace xml_detail {

inline bool unescape(std::string_view raw, std::string& out) {
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '<') return false;
    if (raw[i] != '&') {
      out += raw[i];
      continue;
    }
    bool known = false;
    constexpr std::pair<std::string_view, char> kNames[] = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
    for (const auto& [name, character] : kNames) {
      if (!raw.substr(i).starts_with(name)) continue;
      out += character;
      i += name.size() - 1;
      known = true;
      break;
    }
    if (!known) return false;
  }
  return true;
}

}  // namespace xml_detail

// Elements that HTML does not close (`hollow`) may stand open; a first <!DOCTYPE ...> is passed over.
inline XmlEvents read_xml(std::string_view text, const std::vector<std::string>& hollow = {}) {
  XmlEvents out;
  std::vector<std::string> open;
  const auto fail = [&](std::string why) {
    out.fault = std::move(why);
    return out;
  };
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':' || c == '_';
  };
  std::size_t i = text.starts_with("<!DOCTYPE") ? text.find('>') + 1 : 0;
  while (i < text.size()) {
    if (text[i] != '<') {
      const std::size_t end = std::min(text.find('<', i), text.size());
      std::string words;
      if (!xml_detail::unescape(text.substr(i, end - i), words))
        return fail("a bad reference in: " + std::string(text.substr(i, end - i)));
      if (words.find_first_not_of(" \n") != std::string::npos) {
        if (open.empty()) return fail("text outside of all elements: " + words);
        out.texts.push_back(words);
      }
      i = end;
      continue;
    }
    const bool closing = i + 1 < text.size() && text[i + 1] == '/';
    i += closing ? 2 : 1;
    std::string name;
    while (i < text.size() && is_name(text[i])) name += text[i++];
    if (name.empty()) return fail("an element without a name");
    if (closing) {
      if (i >= text.size() || text[i] != '>') return fail("</" + name + " is not closed");
      if (open.empty() || open.back() != name) return fail("</" + name + "> closes what is not open");
      open.pop_back();
      ++i;
      continue;
    }
    out.elements.push_back(name);
    while (i < text.size() && text[i] == ' ') {
      ++i;
      std::string attribute, value;
      while (i < text.size() && is_name(text[i])) attribute += text[i++];
      if (attribute.empty() || text.substr(i, 2) != "=\"") return fail("a bad attribute of " + name);
      const std::size_t end = text.find('"', i + 2);
      if (end == std::string_view::npos) return fail("an open quote in " + name);
      if (!xml_detail::unescape(text.substr(i + 2, end - i - 2), value))
        return fail("a bad value of " + attribute);
      out.attributes.emplace_back(attribute, value);
      i = end + 1;
    }
    const bool alone = i < text.size() && text[i] == '/';
    i += alone ? 1 : 0;
    if (i >= text.size() || text[i] != '>') return fail("<" + name + " is not closed");
    ++i;
    bool stays_open = !alone;
    for (const std::string& one : hollow) stays_open = stays_open && one != name;
    if (!stays_open) continue;
    open.push_back(name);
    if (name != "style") continue;
    const std::size_t end = text.find("</style>", i);  // in HTML its content is no markup
    if (end == std::string_view::npos) return fail("<style> is not closed");
    i = end;
  }
  if (!open.empty()) return fail("<" + open.back() + "> is not closed");
  return out;
}

}  // namespace bagwise::test
