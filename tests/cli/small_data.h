// Small tables that the tests of the command line share.
#pragma once

#include <string>

#include "bagwise/core/random.h"
#include "cli/run_binary.h"

namespace bagwise::test {

inline const std::string kTable =
    "bag,x1,x2\n"
    "a,1,0\na,2,1\n"
    "b,0,1\nb,1,3\n"
    "c,2,2\nc,0,1\n";
inline const std::string kProportions = "bag,proportion\na,0.5\nb,1\nc,0\n";
inline const std::string kTrain =
    "train --method inv-cal --target t.csv --target-proportions p.csv -o m.json";

// A folder with t.csv, p.csv and the model m.json trained on them.
inline Files trained(Files more = {}) {
  const Workplace place(Files{{"t.csv", kTable}, {"p.csv", kProportions}});
  static_cast<void>(place.run(kTrain));
  more.emplace("m.json", place.read("m.json"));
  more.emplace("t.csv", kTable);
  more.emplace("p.csv", kProportions);
  return more;
}

}  // namespace bagwise::test
