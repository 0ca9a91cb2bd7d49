// Bags that are hard to compute with, though a user may well have them: sizes of features from the smallest
// number to the largest, columns that say the same twice, proportions next to 0 and 1, one row in a bag.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/random.h"
#include "support/bag_problems.h"
#include "support/sparse_rows.h"

namespace bagwise::test {

inline constexpr double kLargest = std::numeric_limits<double>::max();
inline constexpr double kLeast = std::numeric_limits<double>::denorm_min();
inline const double kNearlyOne = std::nextafter(1.0, 0.0);

// A way to make the tables of all tasks nasty.
struct Nasty {
  std::string name;
  // What an error must say, one of these; none: there must be an answer.
  std::vector<std::string> told = {};
  bool hopeless = false;  // there must be an error
  std::function<double(std::size_t row, std::size_t column, double value)> value = {};
  std::function<void(BaggedData&)> bags = {};
};

inline void each_value(BaggedData& data,
                       const std::function<double(std::size_t, std::size_t, double)>& make) {
  const auto rows = std::get<DenseView>(data.features.view());
  DenseRows out(rows.rows, rows.columns);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    for (std::size_t j = 0; j < rows.columns; ++j) out(i, j) = make(i, j, rows.row(i)[j]);
  }
  data.features = Features(std::move(out));
}

// Features x0 to x3; what is done to one of them is done to x0.
inline std::vector<Nasty> nasty_values() {
  const auto one = [](double unit) {
    return [unit](std::size_t, std::size_t j, double x) { return j == 0 ? x * unit : x; };
  };
  const auto all = [](double unit) {
    return [unit](std::size_t, std::size_t, double x) { return x * unit; };
  };
  const std::vector<std::string> small = {"too small to be", "is nowhere above"};
  const std::vector<std::string> large = {"feature \"x0\" of the target reaches",
                                          "feature \"x0\" of the source reaches", "feature \"x0\" reaches"};
  const std::vector<std::string> sum = {"of the target is too large: its values in bag",
                                        "of the source is too large: its values in bag"};
  std::vector<Nasty> out;
  const auto add = [&](std::string name, std::vector<std::string> told, auto value) {
    out.push_back({std::move(name), std::move(told), false, std::move(value)});
  };
  for (const double unit : {1e-12, 1e-6, 1e6, 1e12}) {
    add(fmt::format("one feature times {}", unit), {}, one(unit));
    add(fmt::format("all features times {}", unit), {}, all(unit));
  }
  add("units from 1e-12 to 1e12", {}, [](std::size_t, std::size_t j, double x) {
    return x * std::pow(10.0, -12 + 8.0 * static_cast<double>(j));
  });
  for (const double unit : {1e-100, 1e-160, 1e-300, 16 * kLeast}) {
    add(fmt::format("one feature times {}", unit), small, one(unit));
    add(fmt::format("all features times {}", unit), small, all(unit));
  }
  for (const double unit : {1e50, 1e100, 1e160, 1e306}) {
    add(fmt::format("one feature times {}", unit), large, one(unit));
    add(fmt::format("all features times {}", unit), {"feature \"x"}, all(unit));
  }
  for (const double value : {1e100, 1e200, 1e308, -1e308, kLargest}) {
    add(fmt::format("one cell of {}", value), large,
        [value](std::size_t i, std::size_t j, double x) { return i == 1 && j == 0 ? value : x; });
  }
  add("largest numbers of either sign", sum,
      [](std::size_t, std::size_t, double x) { return x > 0 ? kLargest : -kLargest; });
  add("largest numbers, all alike", sum, [](std::size_t, std::size_t, double) { return kLargest; });
  add("one feature far from 0", {},
      [](std::size_t, std::size_t j, double x) { return j == 0 ? 1e12 + x : x; });
  add("one constant feature", {}, [](std::size_t, std::size_t j, double x) { return j == 0 ? 1e12 : x; });
  add("constant features", {"all rows are equal"},
      [](std::size_t, std::size_t j, double) { return 0.1 * static_cast<double>(j); });
  add("nothing but zeros", {"all rows are equal"}, [](std::size_t, std::size_t, double) { return 0.0; });
  add("rows of zeros", {}, [](std::size_t i, std::size_t, double x) { return i % 3 == 0 ? 0.0 : x; });
  add("zeros of either sign", {}, [](std::size_t i, std::size_t j, double x) {
    return j >= 2 ? x : i % 2 == 0 ? 0.0 : -0.0;
  });
  return out;
}

inline std::vector<Nasty> nasty_bags() {
  using Share = std::function<double(std::size_t bag)>;
  const auto shares = [](Share make) {
    return [make](BaggedData& data) {
      for (std::size_t k = 0; k < data.bags.size(); ++k) data.bags.proportions[k] = make(k);
    };
  };
  const auto bounds = [](Share make) {
    return [make](BaggedData& data) {
      data.bounds.resize(data.bag_of_row.size());
      for (std::size_t i = 0; i < data.bounds.size(); ++i) data.bounds[i] = make(i);
    };
  };
  const auto columns = [](std::function<double(std::span<const double>, std::size_t)> make) {
    return [make](BaggedData& data) {
      const Features before = data.features;
      const auto rows = std::get<DenseView>(before.view());
      each_value(data, [&](std::size_t i, std::size_t j, double) { return make(rows.row(i), j); });
    };
  };
  std::vector<Nasty> out;
  const auto add = [&](std::string name, std::vector<std::string> told, std::function<void(BaggedData&)> bags,
                       bool hopeless = false) {
    out.push_back({std::move(name), std::move(told), hopeless, {}, std::move(bags)});
  };
  add("proportions 0 and 1", {}, shares([](std::size_t k) { return k % 2 == 0 ? 0.0 : 1.0; }));
  add("proportions next to 0 and 1", {},
      shares([](std::size_t k) { return k % 2 == 0 ? kLeast : kNearlyOne; }));
  add("proportions next to 0", {"have the proportion"},
      shares([](std::size_t k) { return k % 2 == 0 ? kLeast : 0.0; }));
  add("proportions next to 1", {}, shares([](std::size_t k) { return k % 2 == 0 ? 1.0 : kNearlyOne; }));
  add("proportions next to a half", {},
      shares([](std::size_t k) { return k % 2 == 0 ? 0.5 : std::nextafter(0.5, 1.0); }));
  add("proportions all alike", {"have the proportion 0.3"}, shares([](std::size_t) { return 0.3; }), true);
  add("bounds of 1e300", {"bounds (delta) of the"}, bounds([](std::size_t) { return 1e300; }));
  add("bounds of denormals", {}, bounds([](std::size_t) { return kLeast; }));
  add("bounds from 0 to the largest", {"bounds (delta) of the"}, bounds([](std::size_t i) {
        return i % 3 == 0 ? 0.0 : i % 3 == 1 ? 1e-3 : kLargest;
      }));
  add(
      "one bag", {"has 1 bag; expected at least two"},
      [](BaggedData& data) {
        data.bags = {{"all"}, {0.3}};
        for (auto& bag : data.bag_of_row) bag = 0;
      },
      true);
  add("the same rows, other proportions", {}, [](BaggedData& data) {
    const auto rows = std::get<DenseView>(data.features.view());
    DenseRows twice(rows.columns);
    data.bag_of_row.clear();
    for (std::uint32_t k = 0; k < 2; ++k) {
      for (std::size_t i = 0; i < 4; ++i) {
        std::copy_n(rows.row(i).data(), rows.columns, twice.append(1));
        data.bag_of_row.push_back(k);
      }
    }
    data.bags = {{"a", "b"}, {0.2, 0.9}};
    data.features = Features(std::move(twice));
  });
  add("equal columns", {}, columns([](std::span<const double> row, std::size_t j) { return row[j / 2]; }));
  add("columns that add up to others", {}, columns([](std::span<const double> row, std::size_t j) {
        return j % 2 == 0 ? row[j] : 3 * row[0] - row[j - 1];
      }));
  add("a bag of one row each", {}, [](BaggedData& data) {
    data.bags = {};
    for (std::size_t i = 0; i < data.bag_of_row.size(); ++i) {
      data.bag_of_row[i] = static_cast<std::uint32_t>(i);
      data.bags.names.push_back(fmt::format("row{:05}", i));
      data.bags.proportions.push_back(i % 3 == 0 ? 0.0 : i % 3 == 1 ? 0.5 : 1.0);
    }
  });
  return out;
}

// The tables of a problem: `tasks` of them, the target last.
inline std::vector<BaggedData> make_nasty(const Nasty& nasty, std::size_t tasks, bool sparse) {
  Rng rng(17);
  std::vector<BaggedData> out;
  for (std::size_t t = 0; t < tasks; ++t) {
    BaggedData data = random_bags(rng, 10, 4, 4);
    if (nasty.value) each_value(data, nasty.value);
    if (nasty.bags) nasty.bags(data);
    if (sparse) data.features = Features(sparse_of(std::get<DenseView>(data.features.view())));
    out.push_back(std::move(data));
  }
  return out;
}

}  // namespace bagwise::test
