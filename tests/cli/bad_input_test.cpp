// Every kind of bad input: one clear line on stderr, exit status 2, and no output.
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/run_binary.h"
#include "cli/small_data.h"

namespace bagwise::test {
namespace {

using namespace std::string_literals;

struct BadInput {
  std::string name;
  Files files;
  std::string command;
  std::vector<std::string> expected;  // parts of the line
};

std::string edited(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

Files with_table(const std::string& table) { return {{"t.csv", table}, {"p.csv", kProportions}}; }
Files with_proportions(const std::string& proportions) { return {{"t.csv", kTable}, {"p.csv", proportions}}; }

std::string gzipped(const Workplace& place, const std::string& text) {
  const gzFile file = gzopen(place.path("x.gz").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return place.read("x.gz");
}

void check(const BadInput& bad) {
  INFO(bad.name << "\nbagwise " << bad.command);
  const Workplace place(bad.files);
  const auto before = place.names();
  const Outcome outcome = place.run(bad.command);
  INFO("stderr: " << outcome.err << "stdout: " << outcome.out);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("bagwise: "));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  for (const std::string& part : bad.expected) CHECK_THAT(outcome.err, Catch::Contains(part));
  CHECK(place.names() == before);
  for (const auto& [name, bytes] : bad.files) CHECK(place.read(name) == bytes);
}

}  // namespace

TEST_CASE("cli: a table that cannot be read is refused in one line", "[cli][badargs]") {
  const std::vector<BadInput> all = {
      {"no such file", {{"p.csv", kProportions}}, kTrain, {"t.csv", "no such file"}},
      {"empty file", with_table(""), kTrain, {"t.csv", "empty"}},
      {"header only", with_table("bag,x1,x2\n"), kTrain, {"t.csv", "row"}},
      {"ragged row, short", with_table(edited(kTable, "a,2,1", "a,2")), kTrain, {"t.csv:3", "2", "3"}},
      {"ragged row, long", with_table(edited(kTable, "a,2,1", "a,2,1,9")), kTrain, {"t.csv:3", "4", "3"}},
      {"not a number",
       with_table(edited(kTable, "a,2,1", "a,abc,1")),
       kTrain,
       {"t.csv:3", "x1", "abc", "--one-hot"}},
      {"empty cell", with_table(edited(kTable, "a,2,1", "a,,1")), kTrain, {"t.csv:3", "x1", "--missing"}},
      {"nan", with_table(edited(kTable, "a,2,1", "a,nan,1")), kTrain, {"t.csv:3", "x1", "nan"}},
      {"inf", with_table(edited(kTable, "a,2,1", "a,inf,1")), kTrain, {"t.csv:3", "x1", "inf"}},
      {"overflow", with_table(edited(kTable, "a,2,1", "a,1e999,1")), kTrain, {"t.csv:3", "x1", "1e999"}},
      {"duplicate column", with_table(edited(kTable, "x2", "x1")), kTrain, {"t.csv", "x1"}},
      {"NUL byte", with_table(edited(kTable, "a,2,1", "a,2\0,1"s)), kTrain, {"t.csv:3", "NUL"}},
      {"unclosed quote", with_table(edited(kTable, "c,2,2", "\"c,2,2")), kTrain, {"t.csv", "quote"}},
      {"no bag column",
       with_table(edited(kTable, "bag", "beg")),
       kTrain,
       {"t.csv", "\"bag\"", "--bag-column"}},
      {"no such feature", with_table(kTable), kTrain + " --features x1,x9", {"x9"}},
      {"no such one-hot column", with_table(kTable), kTrain + " --one-hot colour", {"colour"}},
      {"no feature left", with_table(kTable), kTrain + " --exclude x1,x2", {"t.csv", "feature"}},
  };
  for (const BadInput& bad : all) check(bad);
}

TEST_CASE("cli: proportions that do not fit are refused in one line", "[cli][badargs]") {
  const std::string column = "train --method inv-cal --target t.csv -o m.json";
  const std::vector<BadInput> all = {
      {"no proportions at all", {{"t.csv", kTable}}, column, {"t.csv", "proportion"}},
      {"bag without proportion",
       with_proportions("bag,proportion\na,0.5\nb,1\n"),
       kTrain,
       {"\"c\"", "p.csv"}},
      {"proportion without bag", with_proportions(kProportions + "d,0.5\n"), kTrain, {"p.csv:5", "\"d\""}},
      {"proportion too large",
       with_proportions(edited(kProportions, "b,1", "b,1.3")),
       kTrain,
       {"p.csv:3", "1.3"}},
      {"proportion negative",
       with_proportions(edited(kProportions, "b,1", "b,-0.1")),
       kTrain,
       {"p.csv:3", "-0.1"}},
      {"proportion not a number",
       with_proportions(edited(kProportions, "b,1", "b,x")),
       kTrain,
       {"p.csv:3", "\"x\""}},
      {"proportion nan", with_proportions(edited(kProportions, "b,1", "b,nan")), kTrain, {"p.csv:3", "nan"}},
      {"two proportions", with_proportions(kProportions + "a,0.6\n"), kTrain, {"p.csv:5", "\"a\""}},
      {"size does not match",
       with_proportions("bag,proportion,size\na,0.5,2\nb,1,3\nc,0,2\n"),
       kTrain,
       {"p.csv:3", "3", "2"}},
      {"more positives than rows",
       with_proportions("bag,positives,size\na,1,2\nb,3,2\nc,0,2\n"),
       kTrain,
       {"p.csv:3", "3"}},
      {"all equal",
       with_proportions("bag,proportion\na,0.5\nb,0.5\nc,0.5\n"),
       kTrain,
       {"t.csv: all 3 bags", "0.5"}},
      {"one bag only",
       {{"t.csv", "bag,x1\na,1\na,2\n"}, {"p.csv", "bag,proportion\na,0.5\n"}},
       kTrain,
       {"t.csv: ", "1 bag"}},
      {"no proportion column", with_proportions("bag,share\na,0.5\n"), kTrain, {"p.csv", "proportion"}},
      {"empty proportions", with_proportions(""), kTrain, {"p.csv", "empty"}},
      {"column not constant",
       {{"t.csv", "bag,proportion,x1\na,0.5,1\na,0.6,2\nb,1,1\n"}},
       column,
       {"t.csv", "\"a\"", "0.5", "0.6"}},
      {"file and column",
       {{"t.csv", "bag,proportion,x1\na,0.5,1\nb,1,1\n"}, {"p.csv", "bag,proportion\na,0.5\nb,1\n"}},
       kTrain,
       {"t.csv", "p.csv"}},
      {"a label as feature",
       {{"t.csv", "bag,x1,y\na,1,0\na,2,1\nb,0,1\nb,1,1\nc,2,0\nc,0,0\n"}, {"p.csv", kProportions}},
       kTrain,
       {"t.csv", "\"y\"", "--exclude y", "--allow-leak"}},
      {"a label as one-hot feature",
       {{"t.csv", "bag,x1,c\na,1,red\na,2,blue\nb,0,blue\nb,1,blue\nc,2,red\nc,0,red\n"},
        {"p.csv", kProportions}},
       kTrain + " --one-hot c",
       {"t.csv", "\"c=blue\"", "(--exclude c in place of --one-hot c)", "--allow-leak"}},
      {"a label whose name needs quotes",
       {{"t.csv", "bag,x1,\"y, z\"\na,1,0\na,2,1\nb,0,1\nb,1,1\nc,2,0\nc,0,0\n"}, {"p.csv", kProportions}},
       kTrain,
       {"\"y, z\"", "--exclude '\"y, z\"'"}},
  };
  for (const BadInput& bad : all) check(bad);
}

TEST_CASE("cli: a model that is not whole or not ours is refused in one line", "[cli][badargs]") {
  const std::string model = trained().at("m.json");
  const std::string table = "x1,x2\n1,2\n";
  const std::string predict = "predict --model m.json --input x.csv -o o.csv";
  const auto with_model = [&](const std::string& text) { return Files{{"m.json", text}, {"x.csv", table}}; };
  const std::vector<BadInput> all = {
      {"no model", {{"x.csv", table}}, predict, {"m.json", "No such file"}},
      {"empty model", with_model(""), predict, {"m.json", "empty"}},
      {"truncated model", with_model(model.substr(0, model.size() / 2)), predict, {"m.json", "truncated"}},
      {"edited model", with_model(edited(model, "\"C\":1.0", "\"C\":2.0")), predict, {"m.json", "edited"}},
      {"newer model",
       with_model(edited(model, "\"format_version\": 1", "\"format_version\": 2")),
       predict,
       {"m.json", "version 2"}},
      {"a table as model", with_model(table), predict, {"m.json", "expected a bagwise model"}},
      {"inspect a truncated model",
       with_model(model.substr(0, 100)),
       "inspect m.json",
       {"m.json", "truncated"}},
      {"evaluate an edited model",
       with_model(edited(model, "inv-cal", "inv-cat")),
       "evaluate --model m.json --input x.csv",
       {"m.json", "edited"}},
      {"feature missing", {{"m.json", model}, {"x.csv", "x1\n1\n"}}, predict, {"x.csv", "\"x2\""}},
      {"feature missing, to standard output",
       {{"m.json", model}, {"x.csv", "x1\n1\n"}},
       "predict --model m.json --input x.csv",
       {"x.csv", "\"x2\""}},
      {"empty cell at prediction",
       {{"m.json", model}, {"x.csv", "x1,x2\n1,\n"}},
       predict,
       {"x.csv:2", "x2", "trained without --missing", "fill the cell"}},
      {"text at prediction",
       {{"m.json", model}, {"x.csv", "x1,x2\n1,red\n"}},
       predict,
       {"x.csv:2", "x2", "\"red\"", "the model takes numbers"}},
      {"empty cell at evaluation",
       {{"m.json", model}, {"x.csv", "label,x1,x2\n1,1,\n"}},
       "evaluate --model m.json --input x.csv",
       {"x.csv:2", "x2", "trained without --missing"}},
      {"no such task", with_model(model), predict + " --task source", {"--task", "\"source\"", "target"}},
      {"neither labels nor proportions",
       with_model(model),
       "evaluate --model m.json --input x.csv",
       {"x.csv", "neither labels nor proportions"}},
      {"bag without proportion",
       {{"m.json", model}, {"x.csv", "bag,x1,x2\nz,1,2\n"}, {"p.csv", kProportions}},
       predict + " --proportions p.csv",
       {"x.csv", "\"z\"", "p.csv"}},
      {"proportion without bag",
       {{"m.json", model}, {"x.csv", "bag,x1,x2\na,1,2\n"}, {"p.csv", kProportions}},
       predict + " --proportions p.csv",
       {"p.csv:3", "\"b\""}},
      {"two ways to label",
       with_model(model),
       predict + " --proportions p.csv --threshold 0.3",
       {"--threshold", "--proportions"}},
  };
  for (const BadInput& bad : all) check(bad);
}

TEST_CASE("cli: a gz file that ends too early is refused in one line", "[cli][badargs]") {
  std::string table = kTable;
  for (int i = 0; i < 2000; ++i) table += fmt::format("a,{},{}\n", i, i * 7919 % 1000);
  const std::string whole = gzipped(Workplace(), table);
  const std::string command = "train --method inv-cal --target t.csv.gz --target-proportions p.csv -o m.json";
  for (const std::size_t size : {whole.size() / 2, whole.size() - 4, std::size_t{5}}) {
    check({"truncated gz",
           {{"t.csv.gz", whole.substr(0, size)}, {"p.csv", kProportions}},
           command,
           {"t.csv.gz"}});
  }
  CHECK(Workplace(Files{{"t.csv.gz", whole}, {"p.csv", kProportions}}).run(command).status == 0);
}

TEST_CASE("cli: wrong usage is one line that says what to do", "[cli][badargs]") {
  const Files good = {{"t.csv", kTable}, {"p.csv", kProportions}};
  const std::vector<BadInput> all = {
      {"no command", {}, "", {"no command", "--help"}},
      {"unknown command", {}, "trian", {"unknown command trian", "did you mean train?"}},
      {"unknown first option", {}, "--versoin", {"did you mean --version?"}},
      {"unknown option",
       good,
       kTrain + " --target-proportion p.csv",
       {"unknown option --target-proportion", "did you mean --target-proportions?"}},
      {"unknown option, far off", good, kTrain + " --xyzzyplugh 3", {"--xyzzyplugh", "bagwise train --help"}},
      {"mistyped method option", good, kTrain + " --epsilom=3", {"did you mean --epsilon?"}},
      {"unknown method",
       good,
       "train --method inv-cla --target t.csv --target-proportions p.csv -o m.json",
       {"inv-cla", "did you mean inv-cal?"}},
      {"option without value", good, kTrain + " --C", {"--C needs a value"}},
      {"option followed by option",
       good,
       "train --method --target t.csv -o m.json",
       {"--method needs a value", "--target"}},
      {"given twice", good, kTrain + " --seed 1 --seed 2", {"--seed is given 2 times"}},
      {"required option missing", good, "train --method inv-cal --target t.csv", {"--output is missing"}},
      {"a flag with a value", good, kTrain + " --allow-leak=no", {"--allow-leak takes no value", "\"no\""}},
      {"a flag with 1", good, kTrain + " --json=1", {"--json takes no value", "\"1\""}},
      {"help with a value", good, "train --help=all", {"--help takes no value"}},
      {"one letter", good, kTrain + " -x", {"unknown option -x; bagwise train --help lists all"}},
      {"an option after the end of options", good, kTrain + " -- --C 3", {"unexpected word \"--C\""}},
      {"model to standard output", good, edited(kTrain, "m.json", "-"), {"-: ", "standard output", "file"}},
      {"bags to standard output",
       good,
       "bag --input t.csv --size 2 --out-instances - --out-proportions q.csv",
       {"-: ", "standard output", "file"}},
      {"generate to standard output", {}, "generate --out -", {"-: ", "standard output", "folder"}},
      {"too many features", {}, "generate --out d --features 100000000", {"--features", "from 2 to 100000"}},
      {"too many rows", {}, "generate --out d --test-rows 100000001", {"--test-rows", "from 1 to 100000000"}},
      {"extra word", good, kTrain + " extra", {"unexpected word \"extra\""}},
      {"C out of range", good, kTrain + " --C -1", {"bagwise: --C = -1 breaks C > 0"}},
      {"C not a number", good, kTrain + " --C abc", {"bagwise: --C: \"abc\""}},
      {"epsilon out of range", good, kTrain + " --epsilon -0.5", {"epsilon = -0.5 breaks epsilon >= 0"}},
      {"no such choice", good, kTrain + " --scale big", {"--scale: \"big\"", "standard"}},
      {"threads not a number", good, kTrain + " --threads many", {"--threads", "\"many\""}},
      {"seed negative", good, kTrain + " --seed -1", {"--seed", "\"-1\""}},
      {"missing: no such choice",
       good,
       kTrain + " --missing maybe",
       {"--missing", "\"maybe\"", "error, mean, zero"}},
      {"a source for a method without", good, kTrain + " --source t.csv", {"--source t.csv", "inv-cal"}},
      {"proportions without source",
       good,
       kTrain + " --source-proportions p.csv",
       {"--source-proportions", "--source"}},
      {"output is an input",
       good,
       "train --method inv-cal --target t.csv --target-proportions p.csv -o ./t.csv",
       {"./t.csv", "both an input and the output"}},
      {"output is a folder",
       good,
       "train --method inv-cal --target t.csv --target-proportions p.csv -o .",
       {"folder"}},
      {"output in no folder",
       good,
       "train --method inv-cal --target t.csv --target-proportions p.csv -o no/m.json",
       {"no/m.json", "No such file or directory"}},
      {"predict threshold",
       good,
       "predict --model m.json --input t.csv --threshold 1.5",
       {"--threshold", "from 0 to 1"}},
      {"predict json to stdout", good, "predict --model m.json --input t.csv --json", {"--json", "-o"}},
      {"bag size",
       good,
       "bag --input t.csv --size 0 --out-instances i.csv --out-proportions q.csv",
       {"--size", "from 1"}},
      {"bag without labels",
       good,
       "bag --input t.csv --size 2 --out-instances i.csv --out-proportions q.csv",
       {"t.csv", "\"label\""}},
      {"bag twice the same output",
       good,
       "bag --input t.csv --size 2 --out-instances i.csv --out-proportions i.csv",
       {"i.csv", "two outputs"}},
      {"generate into a file", good, "generate --out t.csv", {"t.csv"}},
      {"generate kind", {}, "generate --out d --kind uniform", {"--kind", "documents, gaussian"}},
      {"generate accuracy", {}, "generate --out . --best-accuracy 0.3", {"--best-accuracy", "0.3"}},
      {"inspect nothing", {}, "inspect", {"is missing"}},
  };
  for (const BadInput& bad : all) check(bad);
}

TEST_CASE("cli: whatever bytes a name has, the complaint is one line", "[cli][badargs]") {
  const Workplace place;
  const Outcome outcome = place.shell("$BAGWISE inspect \"$(printf 'a\\nb\\033c')\"");
  CHECK(outcome.status == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err, Catch::Contains("a\\x0ab\\x1bc"));
}

TEST_CASE("cli: a score too large to be a number is refused with its row", "[cli][badargs]") {
  // Features this small get weights this large.
  const Files small = {{"t.csv", "bag,x1\na,1e-9\na,2e-9\nb,4e-9\nb,3e-9\nc,1e-9\nc,0\n"},
                       {"p.csv", kProportions}};
  const Workplace place(small);
  REQUIRE(place.run(kTrain + " --scale standard").status == 0);
  const Files files = {{"m.json", place.read("m.json")},
                       {"p.csv", "bag,proportion\na,0.5\n"},
                       {"x.csv", "bag,label,x1\na,1,1\na,0,1e308\n"}};
  for (const char* command :
       {"predict --model m.json --input x.csv", "predict --model m.json --input x.csv -o o.csv",
        "predict --model m.json --input x.csv --proportions p.csv",
        "evaluate --model m.json --input x.csv"}) {
    check({"overflow", files, command, {"x.csv", "score of row 2", "finite"}});
  }
}

TEST_CASE("cli: several models cannot share a pipe", "[cli][badargs]") {
  const Workplace place(trained());
  const Outcome outcome = place.shell(
      "cat t.csv | $BAGWISE evaluate --model m.json --model m.json --input /dev/stdin --proportions p.csv");
  INFO(outcome.err);
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains("/dev/stdin") && Catch::Contains("more than once"));
  CHECK(place.shell("cat t.csv | $BAGWISE evaluate --model m.json --input /dev/stdin --proportions p.csv")
            .status == 0);
}

TEST_CASE("cli: generate that fails leaves no folder behind", "[cli][badargs]") {
  const Workplace place;
  for (const char* command :
       {"generate --out d/e --best-accuracy 0.5", "generate --out d/e --features 1",
        "generate --out d/e --kind documents --best-accuracy 0.999999 --features 2 --source-rows 2"}) {
    INFO(command);
    CHECK(place.run(command).status == 2);
    CHECK_FALSE(place.has("d"));
  }
  CHECK(place.run("generate --out d/e --test-rows 100", 300).status == 2);
  CHECK_FALSE(place.has("d"));
}

TEST_CASE("cli: a full disk is an error that leaves nothing behind", "[cli][badargs]") {
  const Workplace place(trained());
  const auto before = place.names();
  const auto fails = [&](const Outcome& outcome, const std::string& part) {
    INFO(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_THAT(outcome.err, Catch::Contains(part));
    CHECK(place.names() == before);
  };
  fails(place.run(edited(kTrain, "m.json", "/dev/full")), "No space left");
  fails(place.run("predict --model m.json --input t.csv -o /dev/full"), "No space left");
  fails(place.shell("$BAGWISE predict --model m.json --input t.csv > /dev/full"), "No space left");
  fails(place.shell("$BAGWISE methods > /dev/full"), "No space left");
  // A limit on the size of files stops a write half way, as a disk that fills up does.
  fails(place.run(edited(kTrain, "m.json", "n.json"), 100), "n.json");
  fails(place.run("predict --model m.json --input t.csv -o o.csv", 150), "o.csv");
  fails(place.run("generate --out . --test-rows 10 --source-rows 10", 1000), "csv");
}

TEST_CASE("cli: a disk that fills up while a model is written keeps the old model", "[cli][badargs]") {
  const Workplace place(Files{{"t.csv", kTable}, {"p.csv", kProportions}});
  const std::string disk = place.path("disk");
  REQUIRE(mkdir(disk.c_str(), 0700) == 0);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4k") != 0) {
    WARN("a small disk could not be mounted here; only root can");
    return;
  }
  place.write("disk/full", std::string(4096, 'x'));
  const Outcome outcome = place.run(edited(kTrain, "m.json", "disk/m.json"));
  const auto names = place.names();
  umount(disk.c_str());
  INFO(outcome.err);
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains("disk/m.json"));
  CHECK(names == std::vector<std::string>{"disk/full", "p.csv", "t.csv"});
}

TEST_CASE("cli: an output that may not be written is refused before the work", "[cli][badargs]") {
  const Workplace place(Files{{"t.csv", kTable}, {"p.csv", kProportions}});
  const Outcome outcome = place.run(edited(kTrain, "m.json", "/proc/m.json"));
  INFO(outcome.err);
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains("/proc/m.json"));
  if (geteuid() == 0) return;  // root may write anywhere
  REQUIRE(mkdir(place.path("shut").c_str(), 0500) == 0);
  CHECK_THAT(place.run(edited(kTrain, "m.json", "shut/m.json")).err, Catch::Contains("Permission denied"));
}

}  // namespace bagwise::test
