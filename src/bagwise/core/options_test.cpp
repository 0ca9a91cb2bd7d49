#include "bagwise/core/options.h"

#include <catch2/catch.hpp>
#include <limits>

namespace {

enum class Colour { kRed, kGreen };
std::vector<std::pair<std::string_view, Colour>> names(Colour) {
  return {{"red", Colour::kRed}, {"green", Colour::kGreen}};
}

struct Sample {
  double C = 1;
  double shift = 0;
  int rounds = 20;
  std::uint8_t small = 1;
  bool flag = false;
  std::optional<double> clip;
  Colour colour = Colour::kRed;
  std::vector<double> each = {0.25};

  template <class Visitor>
  static void describe(Visitor&& visit) {
    visit("C", &Sample::C, "weight of each bag's error", bagwise::positive());
    visit("shift", &Sample::shift, "any", bagwise::any_number());
    visit("rounds", &Sample::rounds, "at most", bagwise::non_negative());
    visit("small", &Sample::small, "a byte");
    visit("flag", &Sample::flag, "yes or no");
    visit("clip", &Sample::clip, "kept from 0 and 1", bagwise::positive());
    visit("colour", &Sample::colour, "one of two");
    visit("each", &Sample::each, "one for all or one for each", bagwise::positive());
  }
};

std::string fault_of(std::string_view name, std::string_view text) {
  Sample sample;
  const auto set = bagwise::set_option(sample, name, text);
  // Whatever was refused must not have changed.
  CHECK(bagwise::option_values(sample) ==
        (set ? bagwise::option_values(sample) : bagwise::option_values(Sample{})));
  return set ? "" : set.error().text();
}

}  // namespace

TEST_CASE("options: values are set from text", "[core][options]") {
  Sample s;
  REQUIRE(bagwise::set_option(s, "C", "2.5"));
  REQUIRE(bagwise::set_option(s, "shift", "-1e-3"));
  REQUIRE(bagwise::set_option(s, "rounds", "0"));
  REQUIRE(bagwise::set_option(s, "small", "255"));
  REQUIRE(bagwise::set_option(s, "flag", "true"));
  REQUIRE(bagwise::set_option(s, "clip", "0.01"));
  REQUIRE(bagwise::set_option(s, "colour", "green"));
  CHECK(s.C == 2.5);
  CHECK(s.shift == -1e-3);
  CHECK(s.rounds == 0);
  CHECK(s.small == 255);
  CHECK(s.flag);
  CHECK(s.clip == 0.01);
  CHECK(s.colour == Colour::kGreen);
  REQUIRE(bagwise::set_option(s, "each", "3"));
  CHECK(s.each == std::vector<double>{3});
  REQUIRE(bagwise::set_option(s, "each", "1,0.5,1e3"));
  CHECK(s.each == std::vector<double>{1, 0.5, 1000});
  REQUIRE(bagwise::set_option(s, "clip", "auto"));
  REQUIRE(bagwise::set_option(s, "each", "auto"));
  CHECK(s.each.empty());
  CHECK(bagwise::to_text(bagwise::option_values(s).back().second) == "auto");
  CHECK(bagwise::validate(s).empty());
  CHECK_FALSE(s.clip.has_value());
}

TEST_CASE("options: every kind of fault is named", "[core][options][badargs]") {
  CHECK(fault_of("c", "1") == "there is no option c");
  CHECK(fault_of("C", "-1") == "C = -1 breaks C > 0");
  CHECK(fault_of("C", "0") == "C = 0 breaks C > 0");
  CHECK(fault_of("C", "abc") == "C: \"abc\" is not a finite number");
  CHECK(fault_of("C", "") == "C: \"\" is not a finite number");
  CHECK(fault_of("C", "1x") == "C: \"1x\" is not a finite number");
  CHECK(fault_of("C", " 1") == "C: \" 1\" is not a finite number");
  CHECK(fault_of("C", "nan") == "C: \"nan\" is not a finite number");
  CHECK(fault_of("C", "inf") == "C: \"inf\" is not a finite number");
  CHECK(fault_of("C", "1e999") == "C: \"1e999\" is not a finite number");
  CHECK(fault_of("C", "auto") == "C: \"auto\" is not a finite number");
  CHECK(fault_of("rounds", "-1") == "rounds = -1 breaks rounds >= 0");
  CHECK(fault_of("rounds", "1.5") == "rounds: \"1.5\" is not a whole number");
  CHECK(fault_of("rounds", "3000000000") == "rounds: \"3000000000\" is out of range");
  CHECK(fault_of("rounds", "99999999999999999999") ==
        "rounds: \"99999999999999999999\" is not a whole number");
  CHECK(fault_of("small", "256") == "small: \"256\" is out of range");
  CHECK(fault_of("flag", "yes") == "flag: \"yes\" is not true or false");
  CHECK(fault_of("clip", "0") == "clip = 0 breaks clip > 0");
  CHECK(fault_of("each", "1,0") == "each = 1,0 breaks each > 0");
  CHECK(fault_of("each", "1,,2") == "each: \"\" is not a finite number");
  CHECK(fault_of("each", "1,") == "each: \"\" is not a finite number");
  CHECK(fault_of("colour", "blue") == "colour: \"blue\" is not one of red, green");
}

TEST_CASE("options: the list tells name, type, rule, choices and default", "[core][options]") {
  const auto list = bagwise::list_options<Sample>();
  REQUIRE(list.size() == 8);
  CHECK(list[0].name == "C");
  CHECK(list[0].help == "weight of each bag's error");
  CHECK(list[0].type == "number");
  CHECK(list[0].rule == "> 0");
  CHECK(bagwise::to_text(list[0].default_value) == "1");
  CHECK(list[2].type == "integer");
  CHECK(bagwise::to_text(list[2].default_value) == "20");
  CHECK(list[4].type == "flag");
  CHECK(bagwise::to_text(list[4].default_value) == "false");
  CHECK(list[5].type == "number");
  CHECK(bagwise::to_text(list[5].default_value) == "auto");
  CHECK(list[6].type == "choice");
  CHECK(list[6].rule == "red|green");
  CHECK(list[6].choices == std::vector<std::string>{"red", "green"});
  CHECK(bagwise::to_text(list[6].default_value) == "red");
  CHECK(list[7].type == "numbers");
  CHECK(bagwise::to_text(list[7].default_value) == "0.25");
}

TEST_CASE("options: validate lists all faults of a hand-filled struct", "[core][options][badargs]") {
  Sample s;
  CHECK(bagwise::validate(s).empty());
  s.C = -1;
  s.shift = std::numeric_limits<double>::quiet_NaN();
  s.rounds = -5;
  s.clip = -0.5;
  s.each = {1, -2};
  CHECK(bagwise::validate(s) ==
        std::vector<std::string>{"C = -1 breaks C > 0", "shift = nan breaks shift finite",
                                 "rounds = -5 breaks rounds >= 0", "clip = -0.5 breaks clip > 0",
                                 "each = 1,-2 breaks each > 0"});
}

TEST_CASE("options: text of a number reads back to the same bits", "[core][options]") {
  for (const double x : {0.1, 1.0 / 3, 1e-300, 5e-324, 123456789.125, -0.0, 1e22}) {
    const auto back = bagwise::options_detail::parse_number(bagwise::to_text(x));
    REQUIRE(back);
    CHECK(*back == x);
  }
}
