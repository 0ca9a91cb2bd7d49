// What names and ids can do to a terminal: nothing.
#include <catch2/catch.hpp>

#include "run_binary.h"

namespace bagwise::test {
namespace {

constexpr const char* kTrain =
    "$BAGWISE train --method inv-cal --target rows.csv --target-proportions shares.csv -o m.json --quiet && ";

// Rows whose id, bag and features would clear the screen, in three ways, and turn the text around.
Files hostile_files() {
  const std::string esc = "\x1b[2J\x1b]0;t\x07",
                    c1 = "\xC2\x9B"
                         "2J",
                    turn = "\xE2\x80\xAE";
  std::string rows = "id,bag,x" + esc + ",y" + c1 + turn + "\n", shares = "bag,proportion\n";
  for (int k = 0; k < 4; ++k) {
    const std::string bag = "b" + std::to_string(k) + esc + c1;
    shares += bag + (k % 2 == 0 ? ",0.5\n" : ",0\n");
    for (int i = 0; i < 2; ++i)
      rows += "r" + std::to_string(2 * k + i) + esc + c1 + turn + "," + bag + "," + std::to_string(k) + "," +
              std::to_string(i * k) + "\n";
  }
  return {{"rows.csv", rows}, {"shares.csv", shares}};
}

bool is_harmless(const std::string& shown) {
  for (const char* bad : {"\x1b", "\xC2\x9B", "\xE2\x80\xAE", "\x07"}) {
    if (shown.find(bad) != std::string::npos) return false;
  }
  return true;
}

TEST_CASE("cli: a terminal is shown control characters, a pipe gets them", "[cli][terminal]") {
  const Workplace place(hostile_files());
  const std::string on_terminal = "/usr/bin/python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' $BAGWISE ";
  for (const std::string words :
       {"predict --model m.json --input rows.csv",
        "predict --model m.json --input rows.csv --json -o out.csv", "inspect m.json",
        "inspect m.json --json", "evaluate --model m.json --input rows.csv --proportions shares.csv",
        "diagnose --target rows.csv --target-proportions shares.csv --bootstrap 0 --folds 0",
        "predict --model m.json --input shares.csv"}) {
    INFO(words);
    const Outcome shown = place.shell(kTrain + on_terminal + words + " < /dev/null");
    CHECK_FALSE(shown.out.empty());
    CHECK(is_harmless(shown.out));
    CHECK(is_harmless(shown.err));
  }
  const Outcome shown =
      place.shell(kTrain + on_terminal + "predict --model m.json --input rows.csv < /dev/null");
  CHECK_THAT(shown.out, Catch::Contains("r7\\x1b[2J\\x1b]0;t\\x07\\xc2\\x9b2J\\xe2\\x80\\xae,"));
  const Outcome piped = place.shell(std::string(kTrain) + "$BAGWISE predict --model m.json --input rows.csv");
  CHECK_THAT(piped.out, Catch::Contains("r7\x1b[2J\x1b]0;t\x07\xC2\x9B"
                                        "2J\xE2\x80\xAE,"));
}

}  // namespace
}  // namespace bagwise::test
