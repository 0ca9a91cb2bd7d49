#include "bagwise/report/model_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

// Numbers of every size, the awkward ones included.
double awkward(Rng& rng) {
  switch (rng.below(6)) {
    case 0:
      return -0.0;
    case 1:
      return std::numeric_limits<double>::denorm_min() * static_cast<double>(1 + rng.below(1000));
    case 2:
      return std::numeric_limits<double>::max() * (rng.uniform() - 0.5);
    case 3:
      return static_cast<double>(rng.below(100));
    default:
      break;
  }
  const double any = std::bit_cast<double>(rng());
  return std::isfinite(any) ? any : 0.1;
}

std::vector<double> awkward_numbers(Rng& rng, std::size_t count) {
  std::vector<double> out(count);
  for (double& v : out) v = awkward(rng);
  return out;
}

Features random_rows(Rng& rng, std::size_t rows, std::size_t columns) {
  if (rng.below(2) == 0) {
    DenseRows out(rows, columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) out(i, j) = awkward(rng);
    return out;
  }
  Csr out;
  out.columns = columns;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (rng.below(3) != 0) continue;
      out.index.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(awkward(rng));
    }
    out.start.push_back(static_cast<std::int64_t>(out.index.size()));
  }
  return out;
}

// Makes a kernel model of it: rows to expand in, and a weight for each.
void add_expansion(Model& model, std::size_t rows, Rng& rng) {
  const auto kind = names(KernelKind{})[rng.below(3)].second;
  model.expansion = Expansion{{kind, 1e-3 + rng.uniform(), 1 + static_cast<int>(rng.below(5))},
                              random_rows(rng, rows, model.features.size())};
  for (TaskModel& task : model.tasks) task.weights = awkward_numbers(rng, rows);
  if (!model.shared_weights.empty()) model.shared_weights = awkward_numbers(rng, rows);
}

Model random_model(std::uint64_t seed, std::size_t features) {
  Rng rng(seed);
  Model model;
  model.method = "inv-cal";
  for (std::size_t j = 0; j < features; ++j) model.features.push_back(fmt::format("x\"\\,=\xC3\xA9\n{}", j));
  if (rng.below(2) == 0) model.one_hot = {"colour"};
  if (rng.below(2) == 0) {
    model.missing = "mean";
    model.fill = awkward_numbers(rng, features);
  }
  if (rng.below(2) == 0) {
    model.scaling = {"standard", awkward_numbers(rng, features), awkward_numbers(rng, features)};
  }
  const std::size_t tasks = 1 + rng.below(3);
  for (std::size_t t = 0; t < tasks; ++t) {
    model.tasks.push_back({t + 1 == tasks ? "target" : fmt::format("source-{}", t + 1),
                           awkward_numbers(rng, features),
                           awkward(rng),
                           {awkward(rng), awkward(rng)}});
  }
  if (rng.below(2) == 0) model.shared_weights = awkward_numbers(rng, features);
  model.options = {{"scale", std::string("none")},
                   {"C", 1.0},
                   {"restarts", std::int64_t{-3}},
                   {"clip", OptionValue{}},
                   {"fast", true},
                   {"epsilon", awkward(rng)},
                   {"C-source", std::vector<double>{0.25, awkward(rng)}}};
  model.training.objective = awkward(rng);
  if (rng.below(2) == 0) {
    model.training.dual_objective = awkward(rng);
    model.training.relative_gap = awkward(rng);
  }
  model.training.termination = "converged";
  model.training.rounds = static_cast<int>(rng.below(30));
  model.training.objective_history = awkward_numbers(rng, rng.below(4));
  for (const double value : awkward_numbers(rng, rng.below(3)))
    model.training.starts.push_back(
        {rng.below(2) == 0 ? "random" : "inv-cal", value, static_cast<int>(rng.below(100))});
  model.training.instances = rng();
  model.training.bags = 7;
  model.training.features = features;
  model.training.seed = rng();
  model.training.warnings = {"a \"warning\""};
  return model;
}

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
bool same(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same(x, y); });
}
bool same(const Features& a, const Features& b) {
  if (a.rows() != b.rows() || a.columns() != b.columns() || a.sparse() != b.sparse()) return false;
  if (!same(stored_values(a.view()), stored_values(b.view()))) return false;
  if (!a.sparse()) return true;
  const auto x = std::get<CsrView>(a.view()), y = std::get<CsrView>(b.view());
  return std::equal(x.start.begin(), x.start.end(), y.start.begin(), y.start.end()) &&
         std::equal(x.index.begin(), x.index.end(), y.index.begin(), y.index.end());
}
bool same(const std::optional<Expansion>& a, const std::optional<Expansion>& b) {
  if (!a || !b) return !a && !b;
  return a->kernel.kind == b->kernel.kind && same(a->kernel.gamma, b->kernel.gamma) &&
         a->kernel.degree == b->kernel.degree && same(a->rows, b->rows);
}
bool same(const Model& a, const Model& b) {
  bool tasks = a.tasks.size() == b.tasks.size();
  for (std::size_t t = 0; tasks && t < a.tasks.size(); ++t) {
    tasks = a.tasks[t].name == b.tasks[t].name && same(a.tasks[t].weights, b.tasks[t].weights) &&
            same(a.tasks[t].bias, b.tasks[t].bias) &&
            same(a.tasks[t].probability.slope, b.tasks[t].probability.slope) &&
            same(a.tasks[t].probability.offset, b.tasks[t].probability.offset);
  }
  const TrainingReport &x = a.training, &y = b.training;
  return tasks && same(a.expansion, b.expansion) && same(a.shared_weights, b.shared_weights) &&
         a.method == b.method && a.features == b.features && a.one_hot == b.one_hot &&
         a.missing == b.missing && same(a.fill, b.fill) && a.scaling.kind == b.scaling.kind &&
         same(a.scaling.shift, b.scaling.shift) && same(a.scaling.factor, b.scaling.factor) &&
         a.options == b.options && same(x.objective, y.objective) && x.dual_objective == y.dual_objective &&
         x.relative_gap == y.relative_gap && x.termination == y.termination && x.rounds == y.rounds &&
         same(x.objective_history, y.objective_history) && x.instances == y.instances && x.bags == y.bags &&
         x.features == y.features && x.seed == y.seed && x.warnings == y.warnings;
}

std::string fault_of(std::string_view text) {
  const auto loaded = model_from_json(text, "m.json");
  return loaded ? "" : loaded.error().text();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// A file whose checksum is right whatever else is wrong: the error tells the sum it expected.
std::string with_right_checksum(std::string text) {
  const std::string fault = fault_of(text);
  const auto at = fault.find("expected fnv1a64:");
  if (at == std::string::npos) return text;
  const std::string sum = fault.substr(at + 9);
  const auto old = text.rfind("fnv1a64:");
  return text.replace(old, sum.size(), sum);
}

}  // namespace

TEST_CASE("model_file: what is written reads back to the same bits", "[report][model_file]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Model model = random_model(seed, seed % 7);
    Rng rng(seed);
    if (seed % 3 == 0) add_expansion(model, seed % 5, rng);
    const std::string text = model_to_json(model);
    const auto loaded = model_from_json(text, "m.json");
    INFO(seed << "\n" << text);
    REQUIRE(loaded.ok());
    REQUIRE(same(model, *loaded));
    REQUIRE(model_to_json(*loaded) == text);
  }
}

TEST_CASE("model_file: a file cut anywhere is refused or is still the whole model", "[report][model_file]") {
  const Model model = random_model(1, 3);
  const std::string text = model_to_json(model);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto loaded = model_from_json(text.substr(0, size), "m.json");
    INFO(size);
    if (loaded) {
      REQUIRE(size == text.size() - 1);  // only the last line's end is missing
      REQUIRE(same(model, *loaded));
    } else {
      REQUIRE(loaded.error().file == "m.json");
    }
  }
  CHECK_THAT(fault_of(text.substr(0, text.size() / 2)), Catch::Contains("truncated"));
  CHECK_THAT(fault_of(""), Catch::Contains("m.json: is empty"));
}

TEST_CASE("model_file: a changed byte is found or changes nothing", "[report][model_file]") {
  const Model model = random_model(4, 2);
  const std::string text = model_to_json(model);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const int byte :
         {0, 9, 32, 34, 44, 46, 48, 49, 57, 65, 92, 97, 101, 125, 255, text[i] ^ 1, text[i] ^ 32}) {
      std::string edited = text;
      edited[i] = static_cast<char>(byte);
      const auto loaded = model_from_json(edited, "m.json");
      if (loaded && !same(model, *loaded)) {
        INFO(i << ": " << text[i] << " -> " << byte);
        REQUIRE(false);
      }
    }
  }
}

TEST_CASE("model_file: an edited value is called an edit", "[report][model_file]") {
  const std::string text = model_to_json(random_model(1, 3));
  CHECK_THAT(fault_of(replaced(text, "\"C\":1.0", "\"C\":2.0")), Catch::Contains("the file was edited"));
  CHECK_THAT(fault_of(replaced(text, "inv-cal", "inv-cat")), Catch::Contains("the file was edited"));
}

TEST_CASE("model_file: layout does not matter, values do", "[report][model_file]") {
  const std::string text = model_to_json(random_model(1, 3));
  std::string spaced = replaced(text, "\"C\":1.0", "\"C\" :\n\t 1.0");
  CHECK(fault_of(spaced).empty());
}

TEST_CASE("model_file: a newer format says which versions are read", "[report][model_file]") {
  const std::string text = model_to_json(random_model(1, 3));
  CHECK_THAT(fault_of(replaced(text, "\"format_version\": 1", "\"format_version\": 2")),
             Catch::Contains("has format version 2; this bagwise reads up to version 1"));
  CHECK_THAT(fault_of(replaced(text, "\"format_version\": 1", "\"format_version\": 0")),
             Catch::Contains("expected at least 1"));
}

TEST_CASE("model_file: a key missing or of the wrong type is named", "[report][model_file]") {
  const std::string text = model_to_json(random_model(2, 3));
  const std::vector<std::pair<std::pair<std::string, std::string>, std::string>> edits = {
      {{"\"method\": \"inv-cal\"", "\"method\": 3"}, "\"method\" has 3; expected text"},
      {{"\"method\":", "\"methods\":"}, "has no \"method\""},
      {{"\"missing\": \"", "\"missing\": \"x"}, "\"missing\" is \"x"},
      {{"\"bias\":", "\"bias\":null,\"b\":"}, "\"tasks[0].bias\" has null; expected a finite number"},
      {{"\"weights\":[", "\"weights\":[0.5,"}, "has 4 numbers; expected one per feature, 3"},
      {{"\"weights\":[", "\"weights\":[null,"}, "expected a finite number"},
      {{"\"weights\":[", "\"weights\":\"a\",\"w\":["}, "expected an array"},
      {{"\"probability\":{", "\"probability\":1,\"p\":{"}, "expected an object"},
      {{"\"kind\":\"", "\"kind\":\"x"}, "expected none, standard or maxabs"},
      {{"\"rounds\":", "\"rounds\":-"}, "expected a whole number from 0"},
      {{"\"warnings\":[", "\"warnings\":[1,"}, "expected text"},
      {{"\"fast\":true", "\"fast\":[1,true]"}, "\"options.fast\""},
      {{"\"tasks\": [", "\"tasks\": [],\"t\": ["}, "has no tasks"},
  };
  for (const auto& [edit, expected] : edits) {
    const std::string edited = with_right_checksum(replaced(text, edit.first, edit.second));
    CHECK_THAT(fault_of(edited), Catch::Contains(expected));
  }
}

TEST_CASE("model_file: the metric is kept, none is not written, and its faults are named",
          "[report][model_file]") {
  Model model = random_model(2, 3);
  model.scaling = {};
  CHECK_THAT(model_to_json(model), !Catch::Contains("metric"));
  CHECK(model_from_json(model_to_json(model), "m.json")->metric.kind == "none");
  model.metric = {"pca", 2, 0.75};
  const std::string text = model_to_json(model);
  const auto loaded = model_from_json(text, "m.json");
  REQUIRE(loaded.ok());
  CHECK(loaded->metric.kind == "pca");
  CHECK(loaded->metric.rank == 2);
  CHECK(loaded->metric.variance_kept == 0.75);
  using Edit = std::pair<std::string, std::string>;
  const std::vector<std::pair<Edit, std::string>> edits = {
      {{"\"pca\"", "\"pcb\""}, "\"metric.kind\" is \"pcb\"; expected none or pca"},
      {{"\"rank\":2", "\"rank\":0"}, "\"metric.rank\" is 0; expected 1 to the number of features, 3"},
      {{"\"rank\":2", "\"rank\":4"}, "\"metric.rank\" is 4"},
      {{"\"rank\":2", "\"rang\":4"}, "\"metric.rank\""},
      {{"\"rank\":2", "\"rank\":-2"}, "expected a whole number from 0"},
      {{"\"variance_kept\":0.75", "\"variance_kept\":0.0"}, "\"metric.variance_kept\" is 0"},
      {{"\"variance_kept\":0.75", "\"variance_kept\":1.5"}, "expected a share above 0 and at most 1"},
      {{"\"variance_kept\":0.75", "\"variance_kept\":null"}, "expected a finite number"},
      {{"\"metric\": {", "\"metric\": 3,\"m\": {"}, "expected an object"},
  };
  for (const auto& [edit, expected] : edits) {
    const std::string edited = with_right_checksum(replaced(text, edit.first, edit.second));
    CHECK_THAT(fault_of(edited), Catch::Contains(expected));
  }
  model.scaling = {"standard", {0, 0, 0}, {1, 1, 1}};
  CHECK_THAT(fault_of(model_to_json(model)), Catch::Contains("expected neither"));
}

TEST_CASE("model_file: a fault of a kernel model's rows is named", "[report][model_file]") {
  Model model = random_model(2, 3);
  model.expansion = Expansion{{KernelKind::kRbf, 0.5, 3}, Csr{{0, 2, 3}, {0, 2, 1}, {0.5, 0.25, 4}, 3}};
  for (TaskModel& task : model.tasks) task.weights = {1, 2};
  model.shared_weights = {3, 4};
  const std::string text = model_to_json(model);
  REQUIRE(fault_of(text).empty());
  model.expansion->rows = DenseRows(2, 3);
  const std::string dense_text = model_to_json(model);
  REQUIRE(fault_of(dense_text).empty());
  using Edit = std::pair<std::string, std::string>;
  const std::vector<std::pair<Edit, std::string>> edits = {
      {{"\"rbf\"", "\"rbg\""}, "\"expansion.kernel\" is \"rbg\"; expected linear, rbf or poly"},
      {{"\"gamma\":0.5", "\"gamma\":0.0"}, "\"expansion.gamma\" is 0"},
      {{"\"gamma\":0.5", "\"gamma\":-1.5"}, "\"expansion.gamma\" is -1.5; expected a finite number above 0"},
      {{"\"gamma\":0.5", "\"gamma\":null"}, "expected a finite number"},
      {{"\"degree\":3", "\"degree\":0"}, "\"expansion.degree\" is 0; expected a whole number from 1"},
      {{"\"degree\":3", "\"degree\":4294967296"}, "\"expansion.degree\" is 4294967296"},
      {{"\"columns\":3", "\"columns\":4"}, "expected one per feature, 3"},
      {{"\"columns\":3", "\"columns\":2"}, "\"expansion.index\" has 2; expected columns from 0 to 1"},
      {{"\"rows\":2", "\"rows\":3"}, "in 3 ascending steps"},
      {{"\"rows\":2", "\"rows\":99999999999999"}, "too large"},
      {{"\"start\":[0,2,3]", "\"start\":[0,3,2]"}, "\"expansion.start\" does not run from 0 to 3"},
      {{"\"start\":[0,2,3]", "\"start\":[1,2,3]"}, "\"expansion.start\" does not run from 0 to 3"},
      {{"\"start\":[0,2,3]", "\"start\":[]"}, "\"expansion.start\""},
      {{"\"start\":[0,2,3]", "\"start\":[0,2.5,3]"}, "expected a whole number from 0"},
      {{"\"index\":[0,2,1]", "\"index\":[2,0,1]"}, "\"expansion.index\" does not ascend within row 0"},
      {{"\"index\":[0,2,1]", "\"index\":[0,0,1]"}, "\"expansion.index\" does not ascend within row 0"},
      {{"\"index\":[0,2,1]", "\"index\":[0,3,1]"}, "\"expansion.index\" has 3; expected columns from 0 to 2"},
      {{"\"index\":[0,2,1]", "\"index\":[0,2]"}, "expected one per value, 3"},
      {{"\"index\":[0,2,1]", "\"index\":[-1,2,1]"}, "expected a whole number from 0"},
      {{"\"weights\":[1.0,2.0]", "\"weights\":[1.0]"}, "expected one per row of the expansion, 2"},
      {{"\"shared_weights\": [3.0,", "\"shared_weights\": ["}, "\"shared_weights\" has 1 numbers"},
      {{"\"shared_weights\": [3.0", "\"shared_weights\": [\"x\""}, "expected a finite number"},
      {{"\"expansion\": {", "\"expansion\": 3, \"e\": {"}, "expected an object"},
  };
  for (const auto& [edit, expected] : edits) {
    const std::string edited = with_right_checksum(replaced(text, edit.first, edit.second));
    CHECK_THAT(fault_of(edited), Catch::Contains(expected));
  }
  const std::vector<std::pair<Edit, std::string>> dense_edits = {
      {{"\"rows\":2", "\"rows\":3"}, "\"expansion.values\" has 6 numbers; expected 3 rows of 3"},
      {{"\"columns\":3", "\"columns\":0"}, "expected 2 rows of 0"},
      {{"\"columns\":3", "\"columns\":2"}, "expected 2 rows of 2"},
      {{"\"values\":[0.0,", "\"values\":[0.0,0.0,"}, "has 7 numbers; expected 2 rows of 3"},
      {{"\"values\":[0.0,", "\"values\":[null,"}, "expected a finite number"},
      {{"\"values\":[0.0,", "\"v\":[0.0,"}, "has no \"expansion.values\""},
  };
  for (const auto& [edit, expected] : dense_edits) {
    const std::string edited = with_right_checksum(replaced(dense_text, edit.first, edit.second));
    CHECK_THAT(fault_of(edited), Catch::Contains(expected));
  }
}

TEST_CASE("model_file: what is no model at all is refused", "[report][model_file]") {
  CHECK_THAT(fault_of("[1,2]"), Catch::Contains("expected an object"));
  CHECK_THAT(fault_of("{}"), Catch::Contains("not a bagwise model"));
  CHECK_THAT(fault_of("bag,proportion\n1,0.5\n"),
             Catch::Contains("m.json:1: column 1: is not JSON; expected a bagwise model"));
  CHECK_THAT(fault_of("{\"format\": 1e999}"), Catch::Contains("out of range"));
  CHECK_THAT(fault_of(std::string(5000000, '[')), Catch::Contains("nests more than"));
  std::string many = "{";
  for (int i = 0; i < 100000; ++i) many += fmt::format("\"{}\":0,", i);
  CHECK_THAT(fault_of(many), Catch::Contains("keys"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  CHECK_THAT(fault_of(deep), Catch::Contains("nests more than"));
}

TEST_CASE("model_file: a number that is not finite is never written", "[report][model_file]") {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("bagwise_model_{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "m.json").string();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Model model = random_model(2, 3);
  model.tasks[0].weights[1] = nan;
  CHECK_FALSE(save_model(path, model).ok());
  model = random_model(2, 3);
  model.training.objective = std::numeric_limits<double>::infinity();
  CHECK_FALSE(save_model(path, model).ok());
  model = random_model(2, 3);
  model.features[0] = "\xFF latin";
  CHECK_FALSE(save_model(path, model).ok());
  model = random_model(2, 3);
  model.shared_weights = {1, nan, 3};
  CHECK_FALSE(save_model(path, model).ok());
  DenseRows rows(1, 3);
  rows(0, 2) = nan;
  model = random_model(2, 3);
  model.expansion = Expansion{{KernelKind::kPoly, 1, 2}, std::move(rows)};
  model.shared_weights.clear();
  for (TaskModel& task : model.tasks) task.weights = {1};
  CHECK_FALSE(save_model(path, model).ok());
  CHECK(std::filesystem::is_empty(folder));

  model = random_model(2, 3);
  REQUIRE(save_model(path, model).ok());
  const auto loaded = load_model(path);
  REQUIRE(loaded.ok());
  CHECK(same(model, *loaded));
  CHECK_FALSE(load_model(path + ".absent").ok());
  std::filesystem::remove_all(folder);
}

}  // namespace bagwise
