// A training that breaks off and goes on from its folder of --checkpoint.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/small_data.h"
#include "cli/split_target.h"

namespace bagwise::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

// Sums and states of the small table are below this size, its models above: the model cannot be written.
constexpr std::size_t kTooSmallForModel = 900;

// Breaks off when everything is done but the model.
void break_off(const Workplace& place, const std::string& command) {
  const Outcome outcome = place.run(command, kTooSmallForModel);
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 2);
  REQUIRE_THAT(outcome.err, Contains("m.json"));
  REQUIRE_FALSE(place.has("m.json"));
}

// Other bytes in a file that looks as it did.
void garble(const Workplace& place, const std::string& name) {
  const auto time = fs::last_write_time(place.path(name));
  place.write(name, std::string(place.read(name).size(), '?'));
  fs::last_write_time(place.path(name), time);
}

const Files kSmall = {{"t.csv", kTable}, {"p.csv", kProportions}};

}  // namespace

TEST_CASE("checkpoint: a training goes on from its sums to the same bytes", "[cli][checkpoint]") {
  const Workplace place(kSmall);
  said(place, kTrain + " --quiet");
  const std::string model = place.read("m.json");
  fs::remove(place.path("m.json"));
  const std::string command = kTrain + " --quiet --checkpoint ck";
  break_off(place, command);
  CHECK(place.has("ck/training.txt"));
  CHECK(place.has("ck/target-first.checkpoint.sums"));
  garble(place, "t.csv");  // the rows are not read again
  said(place, command);
  CHECK(place.read("m.json") == model);
  CHECK_FALSE(place.has("ck"));
}

TEST_CASE("checkpoint: rounds go on to the same bytes", "[cli][checkpoint]") {
  const std::string train =
      "train --method tl-llp --uncertainty literal --rows stream --target t.csv --target-proportions p.csv "
      "-o m.json --quiet";
  const Workplace place(kSmall);
  said(place, train);
  const std::string model = place.read("m.json");
  fs::remove(place.path("m.json"));
  break_off(place, train + " --checkpoint ck");
  REQUIRE(place.has("ck/rounds.checkpoint.state"));
  const std::string state = place.read("ck/rounds.checkpoint.state");
  place.write("ck/rounds.checkpoint.state", state.substr(0, state.size() - 1) + "!");
  CHECK_THAT(refused(place, train + " --checkpoint ck"), Contains("rounds.checkpoint.state: is damaged"));
  place.write("ck/rounds.checkpoint.state", state);
  said(place, train + " --checkpoint ck");
  CHECK(place.read("m.json") == model);
  CHECK_FALSE(place.has("ck"));
}

TEST_CASE("checkpoint: a training from sums keeps what was said of them", "[cli][checkpoint]") {
  const Workplace place(kSmall);
  said(place, "reduce t.csv -o a.sums --quiet");
  said(place, "reduce t.csv -o b.sums --quiet");  // the same again: train remarks on it
  const std::string train =
      "train --method inv-cal --target-sums a.sums --target-sums b.sums --target-proportions p.csv -o m.json "
      "--quiet";
  said(place, train);
  const std::string model = place.read("m.json");
  REQUIRE_THAT(model, Contains("b.sums"));
  fs::remove(place.path("m.json"));
  break_off(place, train + " --checkpoint ck");
  said(place, train + " --checkpoint ck");
  CHECK(place.read("m.json") == model);
}

TEST_CASE("checkpoint: a folder of other options or files is refused", "[cli][checkpoint]") {
  const Workplace place(kSmall);
  const std::string command = kTrain + " --quiet --checkpoint ck";
  break_off(place, command);
  CHECK_THAT(refused(place, command + " --C 3"), Contains("ck/training.txt") && Contains("other"));
  CHECK_THAT(refused(place, command + " --seed 3"), Contains("ck/training.txt"));
  place.write("t.csv", kTable + "c,1,1\n");
  CHECK_THAT(refused(place, command), Contains("ck/training.txt"));
  CHECK_FALSE(place.has("m.json"));
  CHECK(place.has("ck/training.txt"));
}

TEST_CASE("checkpoint: sums that nobody knows the rows of are refused", "[cli][checkpoint]") {
  const Workplace place(kSmall);
  const std::string command = kTrain + " --quiet --checkpoint ck";
  break_off(place, command);
  const std::string sums = place.read("ck/target-first.checkpoint.sums");
  place.write("ck/target-first.checkpoint.sums", sums.substr(0, sums.size() - 1) + "!");
  CHECK_THAT(refused(place, command), Contains("target-first.checkpoint.sums: is damaged; remove it"));
  place.write("ck/target-first.checkpoint.sums", sums);
  fs::remove(place.path("ck/training.txt"));
  CHECK_THAT(
      refused(place, command),
      Contains("target-first.checkpoint.sums: is part of a checkpoint that has lost its training.txt"));
  CHECK_FALSE(place.has("m.json"));
  fs::remove(place.path("ck/target-first.checkpoint.sums"));
  said(place, command);
}

TEST_CASE("checkpoint: its folder is made in one that is there", "[cli][checkpoint]") {
  const Workplace place(kSmall);
  CHECK_THAT(refused(place, kTrain + " --quiet --checkpoint no/such"), Contains("cannot create this folder"));
  CHECK_FALSE(place.has("no"));
}

TEST_CASE("checkpoint: a folder of another number of ranks is refused", "[cli][checkpoint]") {
  const Workplace place(kSmall);
  place.write("ck/rank-0-of-3.training.txt", "bagwise checkpoint 1 0000000000000000\n");
  CHECK_THAT(refused(place, kTrain + " --quiet --checkpoint ck"),
             Contains("ck/rank-0-of-3.training.txt") && Contains("by 3 ranks; expected one by one process"));
}

TEST_CASE("checkpoint: what a killed run was writing goes with the rest", "[cli][checkpoint]") {
  const Workplace place(kSmall);
  break_off(place, kTrain + " --quiet --checkpoint ck");
  place.write("ck/training.txt.tmp-123-0", "bag");
  place.write("ck/target-first.checkpoint.sums.tmp-123-0", "bag");
  said(place, kTrain + " --quiet --checkpoint ck");
  CHECK_FALSE(place.has("ck"));
}

TEST_CASE("checkpoint: files of others in its folder stay", "[cli][checkpoint]") {
  const Workplace place(kSmall);
  place.write("ck/notes.txt", "mine");
  place.write("ck/other.sums", "mine");
  said(place, kTrain + " --quiet --checkpoint ck");
  CHECK(place.read("ck/notes.txt") == "mine");
  CHECK(place.read("ck/other.sums") == "mine");
  CHECK_FALSE(place.has("ck/training.txt"));
}

}  // namespace bagwise::test
