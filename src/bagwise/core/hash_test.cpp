#include "bagwise/core/hash.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace bagwise {
namespace {

std::uint64_t hash_of(const std::vector<double>& values) { return Fnv1a().add(values).value(); }

TEST_CASE("hash: bytes are hashed as FNV-1a has it", "[core][hash][known]") {
  CHECK(Fnv1a().value() == 0xcbf29ce484222325);
  CHECK(Fnv1a().add("a").value() == 0xaf63dc4c8601ec8c);
  CHECK(Fnv1a().add("foobar").value() == 0x85944171f73967e8);
  CHECK(Fnv1a().add("foo").add("bar").value() == 0x85944171f73967e8);
}

// Signs and powers of two change the high bits of a number alone.
TEST_CASE("hash: numbers that change in pairs do not cancel", "[core][hash]") {
  CHECK(hash_of({1, 2}) != hash_of({-1, -2}));
  CHECK(hash_of({1, 2, 3, 4}) != hash_of({-1, 2, 3, -4}));
  CHECK(hash_of({1, 2}) != hash_of({2, 1}));
  CHECK(hash_of({0, 1}) != hash_of({1, 0}));
  CHECK(hash_of({0.0}) != hash_of({-0.0}));
  CHECK(hash_of({}) != hash_of({0}));
  std::set<std::uint64_t> seen;
  for (int a = -50; a < 50; ++a) {
    for (int b = -50; b < 50; ++b) seen.insert(hash_of({a / 4.0, b / 4.0}));
  }
  CHECK(seen.size() == 100 * 100);
  CHECK(Fnv1a().add(std::uint64_t{1}).value() != Fnv1a().add(std::uint64_t{2}).value());
}

}  // namespace
}  // namespace bagwise
