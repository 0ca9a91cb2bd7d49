#include "bagwise/core/result.h"

#include <catch2/catch.hpp>
#include <memory>

namespace {

using bagwise::Error;
using bagwise::Result;

}  // namespace

TEST_CASE("result: the text of an error has just the parts that are known", "[core][result]") {
  CHECK(Error{"bad"}.text() == "bad");
  CHECK(Error{"bad", "f.csv"}.text() == "f.csv: bad");
  CHECK(Error{"bad", "f.csv", 17}.text() == "f.csv:17: bad");
  CHECK(Error{"bad", "f.csv", 17, "3 (age)"}.text() == "f.csv:17: column 3 (age): bad");
  CHECK(Error{"bad", "f.csv", 0, "3 (age)"}.text() == "f.csv: column 3 (age): bad");
  CHECK(Error{"bad", "", 17}.text() == "bad");
}

TEST_CASE("result: the text of an error is one line whatever is in it", "[core][result]") {
  CHECK(Error{"a \"b\nc\" \x1b[2J \x7f \xC3\xA9", "f\t.csv", 1, "3 (a\r)"}.text() ==
        "f\\x09.csv:1: column 3 (a\\x0d): a \"b\\x0ac\" \\x1b[2J \\x7f \xC3\xA9");
}

TEST_CASE("result: holds a value or an error, values that only move included", "[core][result]") {
  Result<std::unique_ptr<int>> good = std::make_unique<int>(3);
  REQUIRE(good.ok());
  CHECK(static_cast<bool>(good));
  CHECK(**good == 3);
  const std::unique_ptr<int> taken = *std::move(good);
  CHECK(*taken == 3);
  const Result<std::unique_ptr<int>> bad = Error{"no"};
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().message == "no");
  const Result<std::string> text = std::string("abc");
  CHECK(text->size() == 3);
}

TEST_CASE("result: of nothing is good unless it has an error", "[core][result]") {
  const Result<void> good;
  CHECK(good.ok());
  Result<void> bad = Error{"no"};
  REQUIRE_FALSE(bad);
  CHECK(std::move(bad).error().message == "no");
}

TEST_CASE("result: an Error can itself be the value", "[core][result]") {
  // The two sides are told apart by place, not by type.
  struct Holder {
    Error inner;
  };
  const Result<Holder> good = Holder{Error{"inner"}};
  CHECK(good.ok());
}
