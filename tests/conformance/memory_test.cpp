// Large blocks are asked for: where memory is short the error says what for and what to do, where it is not
// nothing is refused.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/reduce_table.h"
#include "bagwise/core/memory_budget.h"
#include "bagwise/data/generate.h"
#include "bagwise/data/read_table.h"
#include "bagwise/evaluate/arms.h"
#include "bagwise/evaluate/tuning.h"
#include "bagwise/methods/registry.h"
#include "support/bag_problems.h"
#include "support/temp_dir.h"

namespace bagwise {
namespace {

// The message of what is done with so little memory; empty: it was enough.
template <class Do>
std::string fault_with(std::uint64_t available, const Do& act) {
  const FixedMemory fixed(available);
  const auto done = act();
  return done ? "" : done.error().text();
}

TEST_CASE("memory: the matrices of kernels are asked for to the byte", "[memory]") {
  Rng rng(5);
  const BaggedData data = test::random_bags(rng, 20, 3, 4);
  const std::size_t rows = data.bag_of_row.size(), bags = data.bags.size();
  const TrainingTask task{"target", reduce(data, 1), &data};
  struct Case {
    const char* method;
    OptionTexts options;
    std::size_t values;
    const char *what, *advice;
  };
  const OptionTexts kernel = {{"kernel", "rbf"}}, landmarks = {{"kernel", "rbf"}, {"nystrom", "5"}};
  const std::vector<Case> cases = {
      {"inv-cal", kernel, bags * bags, "the kernel between bags of 20 x 20 numbers", "nystrom"},
      {"tl-llp", kernel, bags * bags, "the kernel between bags", "nystrom"},
      {"conv-psvm", kernel, rows * rows, "the kernel between rows", "nystrom"},
      {"inv-cal", landmarks, 3 * 5 * 5, "landmarks of 15 x 5 numbers", "fewer landmarks"},
      {"tl-llp", landmarks, 3 * 5 * 5, "landmarks", "fewer landmarks"},
      {"alter-psvm", landmarks, (3 * 5 + rows) * 5, "landmarks", "fewer landmarks"},
      {"conv-psvm", landmarks, (3 * 5 + rows) * 5, "landmarks", "fewer landmarks"},
      {"tl-count", landmarks, (3 * 5 + rows) * 5, "landmarks", "fewer landmarks"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.method, c.options);
    const auto fit = [&] { return find_method(c.method)->fit({&task, 1}, c.options, {.threads = 1}); };
    const std::string fault = fault_with(c.values * sizeof(double) - 1, fit);
    CHECK_THAT(fault, Catch::Contains("needs") && Catch::Contains(c.what) &&
                          Catch::Contains("are available") && Catch::Contains(c.advice));
    const std::string enough = fault_with(c.values * sizeof(double), fit);
    CHECK(enough.find(c.what) == std::string::npos);
    CHECK(fault_with(1'000'000, fit).empty());
  }
}

TEST_CASE("memory: the means of bags are asked for", "[memory]") {
  Rng rng(6);
  const BaggedData data = test::random_bags(rng, 20, 3, 4);
  const TrainingTask task{"target", reduce(data, 1), &data};
  for (const char* method : {"inv-cal", "tl-llp"}) {
    CAPTURE(method);
    const auto fit = [&] { return find_method(method)->fit({&task, 1}, {}, {.threads = 1}); };
    CHECK_THAT(fault_with(20 * 3 * 8 - 1, fit), Catch::Contains("the means of bags of 20 x 3 numbers"));
    CHECK(fault_with(20 * 3 * 8, fit).empty());
  }
}

TEST_CASE("memory: rows that move under a kernel are asked for", "[memory]") {
  Rng rng(6);
  BaggedData data = test::random_bags(rng, 4, 50, 3);
  data.bounds.assign(data.bag_of_row.size(), 0.1);
  const std::size_t rows = data.bag_of_row.size();
  const TrainingTask task{"target", reduce(data, 1), &data};
  const auto fit = [&] {
    return find_method("tl-llp")->fit({&task, 1}, {{"kernel", "rbf"}}, {.threads = 1});
  };
  CHECK_THAT(fault_with(rows * 50 * 8 - 1, fit),
             Catch::Contains("rows that may move") && Catch::Contains("delta"));
  CHECK(fault_with(rows * 50 * 8, fit).empty());
}

TEST_CASE("memory: generated rows are asked for", "[memory]") {
  GeneratorOptions options;
  options.source_rows = options.target_rows = options.test_rows = 10;
  options.features = 20;
  const auto make = [&] { return generate(options); };
  CHECK_THAT(fault_with(30 * 20 * 8 - 1, make), Catch::Contains("generated rows of 30 x 20 numbers"));
  CHECK(fault_with(30 * 20 * 8, make).empty());
  options.kind = GeneratorKind::kDocuments;
  options.features = 100;
  CHECK(fault_with(30 * 100 * 8, make).empty());  // sparse: never more than all of it
  options.source_rows = kMostGeneratedRows;
  options.kind = GeneratorKind::kGaussian;
  options.features = kMostGeneratedFeatures;
  const auto huge = generate(options);  // 80 TB, of this very machine
  REQUIRE_FALSE(huge);
  CHECK_THAT(huge.error().text(), Catch::Contains("needs 80 TB"));
}

// A table of so many rows of 500 features, each in a bag of its own.
std::string table_of(const test::TempDir& dir, std::size_t rows) {
  std::string text = "bag";
  for (int j = 0; j < 500; ++j) text += fmt::format(",x{}", j);
  std::string zeros;
  for (int j = 0; j < 500; ++j) zeros += ",0";
  for (std::size_t i = 0; i < rows; ++i) text += fmt::format("\n{}{}", i, zeros);
  const std::string path = dir.file("t.csv");
  std::ofstream(path) << text << "\n";
  return path;
}

TEST_CASE("memory: a table is refused as it outgrows what there is", "[memory]") {
  const test::TempDir dir;
  const std::string path = table_of(dir, 3000);  // 12 MB of numbers, 24 of sums
  const TableSource source = path;
  const auto read = [&] { return read_table(source, {}); };
  const auto sum = [&] { return reduce_table(source, {}, {}); };
  CHECK_THAT(fault_with(500'000, read), Catch::Contains(path) &&
                                            Catch::Contains("more of the rows of this table") &&
                                            Catch::Contains("reads rows in passes"));
  CHECK(fault_with(12'000'000, read).empty());
  CHECK_THAT(fault_with(500'000, sum), Catch::Contains(path) && Catch::Contains("more of the sums per bag") &&
                                           Catch::Contains("sparse form"));
  CHECK(fault_with(24'000'000, sum).empty());
}

TEST_CASE("memory: the planes that a committee keeps are asked for", "[memory]") {
  Rng rng(3);
  const BaggedData data = test::random_bags(rng, 11, 40, 9);
  const TrainingTask task{"target", reduce(data, 1), &data};
  const auto arms = arms_by_metric(*find_method("inv-cal"), {{{{"C", "1"}}, {{"C", "4"}}, {{"C", "9"}}}});
  TuneOptions options;
  options.folds = 4;
  const auto choose = [&] { return tune({&task, 1}, arms, options, {.threads = 1}); };
  CHECK_THAT(fault_with(12 * 40 * 8 - 1, choose),
             Catch::Contains("the planes of all settings on all folds of 12 x 40 numbers") &&
                 Catch::Contains("best"));
  CHECK(fault_with(12 * 40 * 8, choose) == "");
  options.combine = Combine::kBest;
  CHECK(fault_with(12 * 40 * 8 - 1, choose) == "");
}

}  // namespace
}  // namespace bagwise
