// A target whose rows are spread over three files, and models compared, for the tests of large data.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "cli/transfer_tasks.h"

namespace bagwise::test {

// t.csv and p.csv: 12 bags of 8 rows; parts/0.csv ... parts/2.csv: the same rows, dealt out one by one, so
// that bags are spread. Of a source s.csv and q.csv.
struct SplitTarget : Workplace {
  SplitTarget() {
    said(*this, "generate --out d --target-rows 96 --source-rows 160 --test-rows 50 --features 6");
    said(*this, "bag --input d/target.csv --size 8 --out-instances t.csv --out-proportions p.csv");
    said(*this, "bag --input d/source.csv --size 8 --out-instances s.csv --out-proportions q.csv");
    const auto lines = split(read("t.csv"), '\n');
    for (std::size_t part = 0; part < 3; ++part) {
      std::string text = lines[0] + "\n";
      for (std::size_t i = 1 + part; i < lines.size(); i += 3) text += lines[i] + "\n";
      write(fmt::format("parts/{}.csv", part), text);
    }
  }

  // parts/0.sums ... parts/2.sums
  void reduce_parts() const {
    for (int part = 0; part < 3; ++part)
      said(*this, fmt::format("reduce parts/{0}.csv -o parts/{0}.sums --quiet", part));
  }
};
inline const std::string kInvCal = "train --method inv-cal --target-proportions p.csv --quiet ";
inline const std::string kTlLlp = "train --method tl-llp --target-proportions p.csv --quiet ";

// The same model up to rounding: the objective, and bias and every weight relative to the largest.
inline void check_same_model(const json& a, const json& b, double tolerance, double of_weights) {
  CHECK(a["features"] == b["features"]);
  const auto objective = [](const json& model) { return model["training"]["objective"].get<double>(); };
  CHECK(std::abs(objective(a) - objective(b)) <= tolerance * std::abs(objective(a)));
  REQUIRE(a["tasks"].size() == b["tasks"].size());
  for (std::size_t t = 0; t < a["tasks"].size(); ++t) {
    Numbers x = a["tasks"][t]["weights"].get<Numbers>(), y = b["tasks"][t]["weights"].get<Numbers>();
    x.push_back(a["tasks"][t]["bias"]);
    y.push_back(b["tasks"][t]["bias"]);
    REQUIRE(x.size() == y.size());
    double largest = 0, apart = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      largest = std::max(largest, std::abs(x[j]));
      apart = std::max(apart, std::abs(x[j] - y[j]));
    }
    CHECK(largest > 0);
    CHECK(apart <= of_weights * largest);
  }
}
inline void check_same_model(const json& a, const json& b, double tolerance) {
  check_same_model(a, b, tolerance, tolerance);
}

// A command that must end with a message and status 2.
inline std::string refused(const Workplace& place, const std::string& command) {
  const Outcome outcome = place.run(command);
  INFO("bagwise " << command << "\n" << outcome.out << outcome.err);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  return outcome.err;
}

}  // namespace bagwise::test
