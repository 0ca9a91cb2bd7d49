// What must not change an answer: the order of rows, bags and features, a column said twice, a power of two.
#include <numeric>

#include "support/nasty_fits.h"
#include "support/nasty_problems.h"

namespace bagwise {
namespace {

using test::Nasty;
using test::Variant;

// Convex methods, whose value has one answer; solved closely.
std::vector<Variant> convex_variants() {
  const OptionTexts close = {{"gap", "1e-9"}};
  const auto with = [&](const std::string& method, OptionTexts more) {
    more.insert(close.begin(), close.end());
    return Variant{method, more};
  };
  return {with("inv-cal", {}),
          with("inv-cal", {{"scale", "standard"}}),
          with("inv-cal", {{"kernel", "rbf"}}),
          with("tl-llp", {{"uncertainty", "off"}}),
          with("tl-llp", {{"uncertainty", "off"}, {"scale", "maxabs"}}),
          {"mean-map", {{"tolerance", "1e-9"}}}};
}

std::vector<Nasty> problems() {
  return {{"plain"},
          {"units from 1e-6 to 1e6",
           {},
           false,
           [](std::size_t, std::size_t j, double x) {
             return x * std::pow(10.0, -6 + 4.0 * static_cast<double>(j));
           }},
          {"one feature far from 0",
           {},
           false,
           [](std::size_t, std::size_t j, double x) { return j == 0 ? 1e6 + x : x; }},
          test::nasty_bags()[0],
          test::nasty_bags()[1]};
}

// A fit's objective, and twice what its gap and rounding leave open of it.
struct Value {
  double objective = 0, open = 0;
};
Value value_of(const Variant& variant, const std::vector<BaggedData>& data) {
  const auto tasks = test::tasks_of(data);
  const auto fit = find_method(variant.method)->fit(tasks, variant.options, {.threads = 1});
  if (!fit) FAIL(fit.error().text());
  const TrainingReport& report = fit->model.training;
  return {report.objective, 2 * (*report.relative_gap + 1e-9) * std::abs(report.objective)};
}

using Change = std::function<void(BaggedData&)>;

void expect_same_value(
    const Change& change, double factor = 1, const std::function<void(Variant&)>& adapt = [](Variant&) {}) {
  for (const Variant& variant : convex_variants()) {
    const std::size_t tasks = find_method(variant.method)->uses_sources ? 2 : 1;
    for (const Nasty& problem : problems()) {
      CAPTURE(variant.name(), problem.name);
      std::vector<BaggedData> data = test::make_nasty(problem, tasks, false);
      const Value before = value_of(variant, data);
      for (BaggedData& task : data) change(task);
      Variant adapted = variant;
      adapt(adapted);
      const Value after = value_of(adapted, data);
      CHECK(std::abs(after.objective - factor * before.objective) <= factor * before.open + after.open);
    }
  }
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), std::size_t{0});
  Rng rng(seed);
  shuffle(std::span(out), rng);
  return out;
}

TEST_CASE("torture: the order of features does not matter", "[torture][invariance]") {
  expect_same_value([](BaggedData& data) {
    const auto order = shuffled(data.feature_names.size(), 3);
    const Features before = data.features;
    const auto rows = std::get<DenseView>(before.view());
    test::each_value(data, [&](std::size_t i, std::size_t j, double) { return rows.row(i)[order[j]]; });
    const auto names = data.feature_names;
    for (std::size_t j = 0; j < order.size(); ++j) data.feature_names[j] = names[order[j]];
  });
}

TEST_CASE("torture: the order of rows and of bags does not matter", "[torture][invariance]") {
  expect_same_value([](BaggedData& data) {
    const auto row_order = shuffled(data.bag_of_row.size(), 4), bag_order = shuffled(data.bags.size(), 5);
    const BaggedData before = data;
    data.features = take_rows(before.features.view(), row_order);
    std::vector<std::uint32_t> place(bag_order.size());
    for (std::size_t k = 0; k < bag_order.size(); ++k) {
      place[bag_order[k]] = static_cast<std::uint32_t>(k);
      data.bags.names[k] = before.bags.names[bag_order[k]];
      data.bags.proportions[k] = before.bags.proportions[bag_order[k]];
    }
    for (std::size_t i = 0; i < row_order.size(); ++i)
      data.bag_of_row[i] = place[before.bag_of_row[row_order[i]]];
  });
}

TEST_CASE("torture: zeros that are stored do not matter, nor whether rows are sparse",
          "[torture][invariance]") {
  expect_same_value([](BaggedData& data) {
    data.features = Features(test::sparse_of(std::get<DenseView>(data.features.view())));
  });
}

// Labels the other way round turn the planes about.
TEST_CASE("torture: opposite proportions have the same value", "[torture][invariance]") {
  expect_same_value([](BaggedData& data) {
    for (double& p : data.bags.proportions) p = 1 - p;
  });
}

Model fitted(const Variant& variant, const std::vector<BaggedData>& data) {
  auto fit = find_method(variant.method)->fit(test::tasks_of(data), variant.options, {.threads = 1});
  if (!fit) FAIL(fit.error().text());
  return fit->model;
}

// Features times 2^k and costs divided by 4^k are the same problem in another unit: the weights are 2^-k
// times as large, the objective 4^-k times, to the gap.
TEST_CASE("torture: powers of two in the features are a matter of units", "[torture][invariance]") {
  for (const int power : {-300, -40, -3, 5, 40, 140}) {
    const double unit = std::ldexp(1.0, power), square = unit * unit;
    for (const char* method : {"inv-cal", "tl-llp"}) {
      CAPTURE(power, method);
      const bool transfer = method[0] == 't';
      Variant plain{method, {{"gap", "1e-9"}}}, scaled = plain;
      if (transfer) plain.options["uncertainty"] = scaled.options["uncertainty"] = "off";
      const auto text = [](double v) { return to_text(OptionValue(v)); };
      scaled.options["C"] = text(1 / square);
      if (transfer) scaled.options["C-source"] = text(0.25 / square);
      std::vector<BaggedData> data = test::make_nasty({}, transfer ? 2 : 1, false);
      const Model one = fitted(plain, data);
      for (BaggedData& task : data)
        test::each_value(task, [&](std::size_t, std::size_t, double x) { return x * unit; });
      const Model other = fitted(scaled, data);
      CHECK(other.training.objective * square == Approx(one.training.objective).epsilon(1e-8));
      for (std::size_t j = 0; j < one.features.size(); ++j)
        CHECK(other.tasks.back().weights[j] * unit == Approx(one.tasks.back().weights[j]).margin(1e-3));
    }
  }
}

// Scaling takes units away to the bit, as long as squares have all their digits.
TEST_CASE("torture: scaled features forget powers of two to the bit", "[torture][invariance]") {
  for (const Method& method : methods()) {
    for (const char* scale : {"standard", "maxabs"}) {
      for (const int power : {-400, -100, 100, 400}) {
        CAPTURE(method.name, scale, power);
        Variant variant{method.name, {{"scale", scale}}};
        if (method.name == "tl-llp") variant.options["uncertainty"] = "off";  // delta is in raw units
        if (method.name == "alter-psvm") variant.options.insert({{"restarts", "1"}, {"reheat", "false"}});
        std::vector<BaggedData> data = test::make_nasty({}, method.uses_sources ? 2 : 1, false);
        const Model one = fitted(variant, data);
        for (BaggedData& task : data) {
          test::each_value(
              task, [&](std::size_t, std::size_t j, double x) { return j == 0 ? std::ldexp(x, power) : x; });
        }
        const Model other = fitted(variant, data);
        CHECK(one.tasks.back().weights == other.tasks.back().weights);
        CHECK(one.tasks.back().bias == other.tasks.back().bias);
        CHECK(one.training.objective == other.training.objective);
      }
    }
  }
}

// A column said twice is one of sqrt(2) times its size: the two share its weight evenly.
TEST_CASE("torture: a column said twice is a longer one", "[torture][invariance]") {
  for (const Nasty& problem : problems()) {
    CAPTURE(problem.name);
    for (const char* method : {"inv-cal", "mean-map"}) {
      CAPTURE(method);
      Variant variant{method, {{std::string(method) == "inv-cal" ? "gap" : "tolerance", "1e-10"}}};
      std::vector<BaggedData> data = test::make_nasty(problem, 1, false), twice = data, longer = data;
      const Features before = data[0].features;
      const auto rows = std::get<DenseView>(before.view());
      test::each_value(twice[0],
                       [&](std::size_t i, std::size_t j, double) { return rows.row(i)[j == 1 ? 0 : j]; });
      test::each_value(longer[0], [&](std::size_t i, std::size_t j, double) {
        return j == 0 ? std::sqrt(2.0) * rows.row(i)[0] : j == 1 ? 0.0 : rows.row(i)[j];
      });
      const Model two = fitted(variant, twice), one = fitted(variant, longer);
      CHECK(two.training.objective == Approx(one.training.objective).epsilon(1e-6));
      CHECK(two.tasks[0].weights[0] == Approx(two.tasks[0].weights[1]).epsilon(1e-6));
    }
  }
}

}  // namespace
}  // namespace bagwise
