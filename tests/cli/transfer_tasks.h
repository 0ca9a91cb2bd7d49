// Tasks to transfer between, and ways to run the binary on them, for the tests of tl-llp's command line.
#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/run_binary.h"

namespace bagwise::test {

using nlohmann::json;
using Numbers = std::vector<double>;

// What a command that must succeed printed.
inline std::string said(const Workplace& place, const std::string& command) {
  const Outcome outcome = place.run(command);
  INFO("bagwise " << command << "\n" << outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  return outcome.out;
}

inline json told(const Workplace& place, const std::string& command) {
  return json::parse(said(place, command + " --json"));
}

inline json model_in(const Workplace& place, const std::string& name = "m.json") {
  return json::parse(place.read(name));
}

// Generated tasks, dealt into bags: t.csv and p.csv, s1.csv and q1.csv, ... s3.csv and q3.csv.
struct GeneratedTasks : Workplace {
  GeneratedTasks() {
    for (int seed = 1; seed <= 3; ++seed) {
      said(*this,
           fmt::format("generate --out d{0} --seed {0} --target-rows 96 --source-rows 160 --test-rows 50 "
                       "--features 6",
                       seed));
      said(*this, fmt::format("bag --input d{0}/source.csv --size 8 --seed {0} --out-instances s{0}.csv "
                              "--out-proportions q{0}.csv",
                              seed));
    }
    said(*this, "bag --input d1/target.csv --size 8 --out-instances t.csv --out-proportions p.csv");
  }
};
inline const std::string kTarget =
    "train --method tl-llp --target t.csv --target-proportions p.csv -o m.json --quiet";
inline const std::string kFromThree =
    " --source s1.csv --source-proportions q1.csv --source s2.csv --source-proportions q2.csv --source "
    "s3.csv --source-proportions q3.csv";

}  // namespace bagwise::test
