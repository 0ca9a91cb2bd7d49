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

// The digits at `p` (at most 8 are taken) appended to the decimal number `m`; returns how many there were.
// Eight bytes are loaded whatever there is: the buffer must have them.
inline unsigned take_digits(const char* p, std::uint64_t& m) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, p, 8);
  word ^= 0x3030303030303030U;  // digits become 0..9
  // A byte above 9 is no digit: adding 0x76 sets its top bit, unless the top bit is set already. A carry out
  // of a byte can only spoil bytes behind the first non-digit.
  const std::uint64_t other = ((word + 0x7676767676767676U) | word) & 0x8080808080808080U;
  const unsigned count = other == 0 ? 8 : static_cast<unsigned>(std::countr_zero(other)) / 8;
  if (count == 0) return 0;
  word <<= 64 - 8 * count;  // right-align, zeros in front
  word = word * 10 + (word >> 8);
  word = (((word & 0x000000FF000000FFU) * 0x000F424000000064U) +
          (((word >> 16) & 0x000000FF000000FFU) * 0x0000271000000001U)) >>
         32;
  m = m * kIntegerPowersOfTen[count] + (word & 0xFFFFFFFFU);
  return count;
}

// A number of the form [-]digits[.digits] whose digits, read as one whole number m, give m <= 2^53: then
// m / 10^k with k <= 22 is one correctly rounded division of exact values, so the bits are those of any
// correct parser. Returns where it ends, or null if the number is not of that form.
inline const char* parse_plain_number(const char* p, double& value) {
  const bool negative = *p == '-';
  p += negative;
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
  const double magnitude = static_cast<double>(m) / kPowersOfTen[fraction];
  value = negative ? -magnitude : magnitude;
  return p;
}

enum class NumberFault { kNone, kEmpty, kNotANumber, kNotFinite };

// The whole of `text` as a finite decimal number; blanks around it and a leading + are allowed.
NumberFault parse_number(std::string_view text, double& value);

}  // namespace bagwise::internal
