// Text to number: a fast path for short plain decimals, and fast_float for all else, to the same bits.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace bagwise::internal {

inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::uint64_t kIntegerPowersOfTen[] = {1,      10,      100,      1000,     10000,
                                                        100000, 1000000, 10000000, 100000000};

// The bytes of `word` (text xor '0' in every byte) that are no digits, as their top bits. A byte above 9 is
// no digit: adding 0x76 sets its top bit, unless it is set already. A carry out of a byte of 0x8A or more can
// only spoil bytes behind it.
inline std::uint64_t not_digits(std::uint64_t word) {
  return ((word + 0x7676767676767676U) | word) & 0x8080808080808080U;
}

// The number that `count` > 0 digits in the low bytes of `word` make, the first digit lowest.
inline std::uint64_t digits_to_number(std::uint64_t word, unsigned count) {
  word <<= 64 - 8 * count;  // right-align, zeros in front
  word = word * 10 + (word >> 8);
  return (((word & 0x000000FF000000FFU) * 0x000F424000000064U) +
          (((word >> 16) & 0x000000FF000000FFU) * 0x0000271000000001U)) >>
         32;
}

inline std::uint64_t load_digits(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, p, 8);
  return word ^ 0x3030303030303030U;  // digits become 0..9
}

// The digits at `p` (at most 8 are taken) appended to the decimal number `m`; returns how many there were.
// Eight bytes are loaded whatever there is: the buffer must have them.
inline unsigned take_digits(const char* p, std::uint64_t& m) {
  const std::uint64_t word = load_digits(p);
  const std::uint64_t other = not_digits(word);
  const unsigned count = other == 0 ? 8 : static_cast<unsigned>(std::countr_zero(other)) / 8;
  if (count == 0) return 0;
  m = m * kIntegerPowersOfTen[count] + (digits_to_number(word, count) & 0xFFFFFFFFU);
  return count;
}

// m / 10^fraction with the sign put on without a branch: signs are as good as random.
inline double scaled(std::uint64_t m, unsigned fraction, bool negative) {
  const double magnitude = static_cast<double>(static_cast<std::int64_t>(m)) / kPowersOfTen[fraction];
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | static_cast<std::uint64_t>(negative)
                                                                             << 63);
}

// A number of the form [-]digits[.digits] whose digits, read as one whole number m, give m <= 2^53: then
// m / 10^k with k <= 22 is one correctly rounded division of exact values, so the bits are those of any
// correct parser. Returns where it ends, or null if the number is not of that form.
inline const char* parse_plain_number(const char* p, double& value) {
  const bool negative = *p == '-';
  p += negative;
  // Numbers of up to seven characters are done in one word: the point is squeezed out, then all digits are
  // converted at once (reading whole tables took 0.40 s of CPU instead of 0.54 per 200 MB).
  const std::uint64_t word = load_digits(p);
  const std::uint64_t other = not_digits(word);
  const std::uint64_t behind = other & (other - 1);  // without the first
  constexpr std::uint64_t kPoint = '.' ^ '0';
  if (behind != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(other)) / 8;
    if (((word >> (8 * first)) & 0xFF) == kPoint) {
      const auto second = static_cast<unsigned>(std::countr_zero(behind)) / 8;
      const std::uint64_t before = (std::uint64_t{1} << (8 * first)) - 1;
      const std::uint64_t squeezed = (word & before) | ((word >> 8) & ~before);
      if (second == 1) return nullptr;  // a point alone
      value = scaled(digits_to_number(squeezed, second - 1), second - first - 1, negative);
      return p + second;
    }
    if (first > 0) {
      value = scaled(digits_to_number(word, first), 0, negative);
      return p + first;
    }
    return nullptr;
  }
  std::uint64_t m = 0;
  unsigned whole = take_digits(p, m);
  p += whole;
  if (whole == 8) {
    const unsigned more = take_digits(p, m);
    whole += more;
    p += more;
  }
  unsigned fraction = 0;
  if (*p == '.') {
    ++p;
    fraction = take_digits(p, m);
    p += fraction;
    if (fraction == 8) {
      const unsigned more = take_digits(p, m);
      fraction += more;
      p += more;
    }
  }
  const unsigned digits = whole + fraction;  // up to 19 cannot have overflown m
  if (digits == 0 || digits > 19 || m > (std::uint64_t{1} << 53)) return nullptr;
  value = scaled(m, fraction, negative);
  return p;
}

enum class NumberFault { kNone, kEmpty, kNotANumber, kNotFinite };

// Without the blanks (spaces and tabs) around it.
std::string_view trimmed(std::string_view text);

// The whole of `text` as a finite decimal number; blanks around it and a leading + are allowed.
NumberFault parse_number(std::string_view text, double& value);

}  // namespace bagwise::internal
