#include "bagwise/data/text/words.h"

#include <array>

namespace bagwise {
namespace {

// Per byte of latin-1: its lower case if it is a letter or a digit, else 0.
constexpr std::array<unsigned char, 256> make_lower() {
  std::array<unsigned char, 256> out{};
  for (unsigned c = '0'; c <= '9'; ++c) out[c] = static_cast<unsigned char>(c);
  for (unsigned c = 'a'; c <= 'z'; ++c) out[c] = out[c - 'a' + 'A'] = static_cast<unsigned char>(c);
  constexpr unsigned kFirst = 0xE0, kDivided = 0xF7, kSharpS = 0xDF, kUp = 0x20, kNoUpper = 0xFF;
  for (unsigned c = kFirst; c <= kNoUpper; ++c) {
    if (c == kDivided) continue;  // the sign, and its "upper case", the multiplication sign, are no letters
    out[c] = static_cast<unsigned char>(c);
    if (c != kNoUpper) out[c - kUp] = static_cast<unsigned char>(c);
  }
  out[kSharpS] = kSharpS;
  return out;
}
constexpr auto kLower = make_lower();

bool is_letter(unsigned char lower) { return lower > '9'; }

void append_utf8(unsigned char c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

}  // namespace

void append_words(std::string_view latin1, std::string& out) {
  const auto lower = [&](std::size_t i) {
    return i < latin1.size() ? kLower[static_cast<unsigned char>(latin1[i])] : static_cast<unsigned char>(0);
  };
  for (std::size_t i = 0; i < latin1.size();) {
    if (lower(i) == 0) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (lower(end) != 0 || (latin1[end] == '\'' && lower(end + 1) != 0)) {
      if (++end == latin1.size()) break;
    }
    std::size_t cut = end;
    if (end - i > 2 && latin1[end - 2] == '\'' && lower(end - 1) == 's') cut = end - 2;
    bool has_letter = false;
    for (std::size_t k = i; k < cut; ++k) has_letter = has_letter || is_letter(lower(k));
    if (has_letter && cut - i >= 2) {
      if (!out.empty()) out += ' ';
      for (std::size_t k = i; k < cut; ++k) append_utf8(latin1[k] == '\'' ? '\'' : lower(k), out);
    }
    i = end;
  }
}

}  // namespace bagwise
