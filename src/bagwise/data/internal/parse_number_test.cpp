#include "bagwise/data/internal/parse_number.h"

#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

#include "bagwise/core/random.h"

using namespace bagwise;
using namespace bagwise::internal;

namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

// The fast path must give strtod's bits, or nothing; the general path always strtod's bits.
void check(const std::string& text) {
  INFO(text);
  const double expected = std::strtod(text.c_str(), nullptr);
  double value = 7;
  REQUIRE(parse_number(text, value) == NumberFault::kNone);
  CHECK(bits(value) == bits(expected));
  for (const char* behind : {",", "\n", "\r\n", ",123456789", "\n9.9"}) {
    const std::string padded = text + behind + std::string(16, '\0');
    double plain = 7;
    const char* const end = parse_plain_number(padded.data(), plain);
    if (end != nullptr && (*end == ',' || *end == '\n' || *end == '\r')) {
      CHECK(static_cast<std::size_t>(end - padded.data()) == text.size());
      CHECK(bits(plain) == bits(expected));
    }
  }
}

}  // namespace

TEST_CASE("parse_number: both paths give strtod's bits", "[data][parse_number]") {
  for (const char* text : {"0",
                           "-0",
                           "0.0",
                           "-0.0",
                           "1",
                           "-1",
                           "5.",
                           ".5",
                           "-.5",
                           "00012",
                           "0.1",
                           "123456.789",
                           "9007199254740992",
                           "9007199254740993",
                           "9007199254740994.",
                           "0.30000000000000004",
                           "179769313486231570000000000000000000000",
                           "1e22",
                           "1e23",
                           "-1E-5",
                           "4.9e-324",
                           "2.2250738585072011e-308",
                           "1.7976931348623157e308",
                           "1e-400",
                           "0.000000000000000000000000000001",
                           "12345678",
                           "123456789",
                           "12345678.12345678",
                           "1234567812345678",
                           "12345678123456781",
                           "1234567812345678.1",
                           "1.1234567812345678",
                           "1.12345678123456781",
                           "99999999999999999999999999",
                           "18446744073709551616",
                           "18446744073709551617.5",
                           "0.00000000",
                           "0.000000001"}) {
    check(text);
  }
  Rng rng(3);
  for (int i = 0; i < 20000; ++i) {
    std::string text = rng.below(2) == 0 ? "-" : "";
    const std::uint64_t whole = rng.below(21), fraction = rng.below(22);
    for (std::uint64_t k = 0; k < whole; ++k) text += static_cast<char>('0' + rng.below(10));
    if (fraction > 0 || whole == 0) text += '.';
    for (std::uint64_t k = 0; k < fraction || (whole == 0 && k == 0); ++k) {
      text += static_cast<char>('0' + rng.below(rng.below(2) == 0 ? 1 : 10));
    }
    if (rng.below(10) == 0) text += fmt::format("e{}", static_cast<int>(rng.below(40)) - 20);
    check(text);
  }
}

TEST_CASE("parse_number: the fast path takes short plain decimals and no others", "[data][parse_number]") {
  const auto taken = [](std::string text) {
    text.append(16, '\0');
    double value = 0;
    const char* const end = parse_plain_number(text.data(), value);
    return end != nullptr && *end == ',';
  };
  CHECK(taken("1.2345,"));
  CHECK(taken("-123456789.012345,"));
  CHECK_FALSE(taken(","));
  CHECK_FALSE(taken("-,"));
  CHECK_FALSE(taken(".,"));
  CHECK_FALSE(taken("abc,"));
  CHECK_FALSE(taken("0.30000000000000004,"));
  CHECK_FALSE(taken("+1,"));
}

TEST_CASE("parse_number: what is no finite number is told apart", "[data][parse_number][badargs]") {
  double value = 0;
  for (const char* text : {"", " ", "\t "}) CHECK(parse_number(text, value) == NumberFault::kEmpty);
  for (const char* text :
       {"abc", "1x", "1 2", "--1", "+-1", "0x10", "1e", "1,5", "e5", ".", "-", "+", "1_000"}) {
    INFO(text);
    CHECK(parse_number(text, value) == NumberFault::kNotANumber);
  }
  for (const char* text : {"nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1e999"}) {
    INFO(text);
    CHECK(parse_number(text, value) == NumberFault::kNotFinite);
  }
  REQUIRE(parse_number(" +1.5 ", value) == NumberFault::kNone);
  CHECK(value == 1.5);
}
