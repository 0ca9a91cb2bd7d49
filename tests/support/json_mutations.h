// A JSON document changed in every place, one change at a time: what a reader of unknown files must stand.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bagwise::test {

using AnyJson = nlohmann::ordered_json;

// Called with a changed document and what was changed.
using SeeMutation = std::function<void(const AnyJson&, const std::string&)>;

inline std::vector<AnyJson> bad_values() {
  AnyJson deep = 1;
  for (int i = 0; i < 20; ++i) deep = AnyJson::array({deep});
  return {nullptr,
          true,
          false,
          0,
          1,
          2,
          -1,
          0.5,
          -0.0,
          1e308,
          -1e308,
          5e-324,
          std::uint64_t{1} << 31,
          std::uint64_t{1} << 32,
          std::uint64_t{1} << 63,
          ~std::uint64_t{0},
          INT64_MIN,
          "",
          "x",
          "nan",
          "1e999",
          std::string("a\0b", 3),
          "<script>bad()</script>\xE2\x80\xA8\x1B[31m",
          std::string(5000, 'y'),
          AnyJson::array(),
          AnyJson::array({AnyJson::array()}),
          AnyJson::array({1, "x", nullptr}),
          std::vector<double>(1000, 0.25),
          AnyJson::object(),
          {{"a", 1}},
          deep};
}

namespace detail {

// Changes `place`, which is within `document`, in all ways, puts it back, and goes on below it.
inline void mutate_at(AnyJson& document, AnyJson& place, const std::string& path,
                      const std::vector<AnyJson>& bad, const SeeMutation& see) {
  const AnyJson whole = place;
  const auto changed = [&](AnyJson to, const std::string& how) {
    place = std::move(to);
    see(document, path + ": " + how);
    place = whole;
  };
  for (const AnyJson& value : bad) changed(value, value.dump().substr(0, 60));
  if (whole.is_array()) {
    AnyJson other = whole;
    if (!other.empty()) {
      other.erase(other.size() - 1);
      changed(other, "one shorter");
      other = whole;
      other.push_back(other.front());
      changed(other, "one longer");
      other = whole;
      std::swap(other.front(), other.back());
      changed(other, "ends swapped");
    }
  }
  if (whole.is_object()) {
    for (const auto& [key, value] : whole.items()) {
      AnyJson other = whole;
      other.erase(key);
      changed(other, key + " dropped");
      other[key + "_"] = value;
      changed(other, key + " renamed");
      other = whole;
      other["unknown"] = value;
      changed(other, key + " copied to an unknown key");
    }
  }
  if (place.is_structured()) {
    for (auto at = place.begin(); at != place.end(); ++at) {
      if (place.is_array() && at != place.begin() && at + 1 != place.end()) continue;  // like its neighbours
      const std::string below = place.is_object() ? at.key() : fmt::format("{}", at - place.begin());
      mutate_at(document, *at, path + "/" + below, bad, see);
    }
  }
}

}  // namespace detail

// Every value (of arrays the first and the last) replaced by each bad one; every array shortened, lengthened
// and out of order; every key dropped, renamed and doubled under another name.
inline void for_each_mutation(AnyJson document, const SeeMutation& see) {
  detail::mutate_at(document, document, "", bad_values(), see);
}

}  // namespace bagwise::test
