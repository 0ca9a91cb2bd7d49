// bagwise corpus, end to end on tiny corpora.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/run_binary.h"
#include "support/packing.h"
#include "support/tar.h"
#include "support/tiny_corpora.h"

namespace bagwise::test {
namespace {

using nlohmann::json;

// A folder that has a corpus in a folder.
struct CorpusPlace : Workplace {
  CorpusPlace(const std::string& folder, const CorpusFiles& files) { write_corpus(files, path(folder)); }
};

std::string said(const Workplace& place, const std::string& command) {
  const Outcome outcome = place.run(command);
  INFO(command << "\n" << outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err.empty());
  return outcome.out;
}

// One line on standard error, status 2, and no file that was not there before.
void refused(const Workplace& place, const std::string& command, const std::string& part) {
  INFO(command);
  const auto before = place.names();
  const Outcome outcome = place.run(command);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err, Catch::Contains(part));
  CHECK(place.names() == before);
  CHECK_FALSE(place.has("new"));
}

std::vector<std::string> lines_of(const Workplace& place, const std::string& name) {
  return split(place.read(name), '\n');
}

}  // namespace

TEST_CASE("cli: corpus writes two labelled tables", "[cli][corpus]") {
  const CorpusPlace place("ng", tiny_newsgroups(1, 6));
  const std::string text = said(place, "corpus newsgroups ng --pair 1 --out d/e");
  CHECK_THAT(text, Catch::Contains("ng: 120 documents in 120 files") &&
                       Catch::Contains("comp.os.ms-windows.misc") && Catch::Contains("d/e/target.csv"));
  const auto source = lines_of(place, "d/e/source.csv"), target = lines_of(place, "d/e/target.csv");
  CHECK_THAT(source[0], Catch::StartsWith("id,label,"));
  CHECK(source[0] == target[0]);
  for (const auto* lines : {&source, &target}) {
    const std::string positive = lines == &source ? "comp.os.ms-windows.misc/" : "comp.windows.x/";
    for (std::size_t i = 1; i < lines->size(); ++i) {
      const auto cells = split((*lines)[i], ',');
      if (cells.size() < 2) continue;
      CHECK(cells[1] == (cells[0].starts_with(positive) ? "1" : "0"));
      CHECK(cells[0].starts_with("comp.") == cells[0].starts_with(positive));
    }
  }
}

TEST_CASE("cli: corpus gives the same bytes from folder and archive, for one seed", "[cli][corpus]") {
  const CorpusFiles files = tiny_reuters(2, 8);
  const CorpusPlace place("re", files);
  const std::string tar = tar_of(files, "reuters21578");
  place.write("re.tar", tar);
  place.write("re.tar.gz", gzip(tar));
  said(place, "corpus reuters re --pair 7 --out a --quiet");
  said(place, "corpus reuters re.tar --pair 7 --out b --quiet --threads 1");
  said(place, "corpus reuters re.tar.gz --pair all --out c --quiet");
  said(place, "corpus reuters re --pair 7 --out d --quiet --seed 2");
  for (const char* name : {"source.csv", "target.csv"}) {
    const std::string bytes = place.read(fmt::format("a/{}", name));
    CHECK(place.read(fmt::format("b/{}", name)) == bytes);
    CHECK(place.read(fmt::format("c/pair-7/{}", name)) == bytes);
    CHECK(place.read(fmt::format("d/{}", name)) != bytes);
    CHECK(place.has(fmt::format("c/pair-8/{}", name)));
    CHECK(place.has(fmt::format("c/pair-9/{}", name)));
  }
}

TEST_CASE("cli: corpus --json tells what was made of what", "[cli][corpus]") {
  const CorpusPlace place("re", tiny_reuters(2, 8));
  const json told = json::parse(said(place, "corpus reuters re --pair all --out d --json --seed 3"));
  CHECK(told.at("corpus") == "reuters");
  CHECK(told.at("input") == "re");
  CHECK(told.at("seed") == 3);
  CHECK(told.at("files") == 22);
  CHECK(told.at("documents") == 176);
  CHECK(told.at("without_body") > 0);
  CHECK(told.at("left_out") == 0);
  CHECK(told.at("same_words") > 0);
  CHECK(told.at("seconds").at("total") >= told.at("seconds").at("read"));
  REQUIRE(told.at("pairs").size() == 3);
  for (const json& pair : told.at("pairs")) {
    for (const char* task : {"source", "target"}) {
      const json& of = pair.at(task);
      const std::string file = of.at("file");
      CHECK(file == fmt::format("d/pair-{}/{}.csv", pair.at("pair").get<int>(), task));
      const std::string table = place.read(file);
      CHECK(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')) ==
            1 + of.at("rows").get<std::size_t>());
      CHECK(of.at("rows") == 2 * std::min({of.at("rows_wanted").get<std::size_t>() / 2,
                                           of.at("positives_found").get<std::size_t>(),
                                           of.at("negatives_found").get<std::size_t>()}));
      const std::string header = table.substr(0, table.find('\n'));
      CHECK(split(header, ',').size() == 2 + pair.at("features").get<std::size_t>());
    }
  }
  const json omitted =
      json::parse(said(place, "corpus reuters re --pair 7 --out e --json --missing-body omit"));
  CHECK(omitted.at("left_out") == told.at("without_body"));
}

TEST_CASE("cli: corpus tables can be bagged, learnt from and evaluated", "[cli][corpus]") {
  CorpusFiles files = tiny_newsgroups(3, 10);
  for (auto& [name, bytes] : files) bytes += "bag label id proportion delta\n";  // words, not columns
  for (auto& [name, bytes] : files) bytes += fmt::format("only{}\n", name);
  const CorpusPlace place("ng", files);
  said(place, "corpus newsgroups ng --pair 4 --out d --quiet");
  CHECK_THAT(lines_of(place, "d/target.csv")[0], Catch::Contains(",word-label,"));
  said(place, "bag --input d/target.csv --size 2 --out-instances i.csv --out-proportions p.csv --quiet");
  said(place, "train --method inv-cal --target i.csv --target-proportions p.csv -o m.json --quiet");
  CHECK_THAT(said(place, "evaluate --model m.json --input d/source.csv"), Catch::Contains("accuracy"));
}

TEST_CASE("cli: corpus refuses what it cannot use", "[cli][corpus][badargs]") {
  CorpusFiles files = tiny_newsgroups(1, 1);
  files.erase("comp.windows.x/100");
  const CorpusPlace place("ng", files);
  write_corpus({{"re/reut2-000.sgm", ""}, {"text", "not an archive"}}, place.path("."));
  place.write("short.tar", tar_of(files, "x").substr(0, 3000));
  refused(place, "corpus newsgroups ng --pair 1 --out new",
          "ng: holds no messages of comp.windows.x; expected the 20 folders");
  refused(place, "corpus newsgroups re --pair 1 --out new/deep",
          "found reut2-000.sgm, which is of the other");
  refused(place, "corpus reuters re --pair 7 --out new", "re: holds no file reut2-001.sgm and lacks 20 more");
  refused(place, "corpus reuters text --pair 7 --out new", "text: is neither a folder nor a tar archive");
  refused(place, "corpus newsgroups short.tar --pair 1 --out new", "short.tar: is damaged or cut short");
  refused(place, "corpus reuters nothing --pair 7 --out new", "nothing: there is no such file or folder");
  refused(place, "corpus newsgroups ng --pair 7 --out new",
          "--pair: \"7\" is not a pair of newsgroups; expected 1 to 6, or all");
  refused(place, "corpus reuters re --pair 1 --out new", "expected 7 to 9, or all");
  refused(place, "corpus reuters re --pair x --out new", "--pair: \"x\"");
  refused(place, "corpus wiki re --pair 1 --out new", "CORPUS: \"wiki\" is not one of newsgroups, reuters");
  refused(place, "corpus newsgroups ng --out new", "--pair is missing");
  refused(place, "corpus newsgroups --pair 1 --out new", "DIR_OR_TAR is missing");
  refused(place, "corpus newsgroups ng --pair 1", "--out is missing");
  refused(place, "corpus newsgroups ng --pair 1 --out -", "standard output");
  refused(place, "corpus newsgroups ng --pair 1 --out text", "text");
  refused(place, "corpus newsgroups ng --pair 1 --out new --missing-body omit", "--missing-body");
  refused(place, "corpus reuters re --pair 7 --out new --missing-body body", "title, omit");
}

TEST_CASE("cli: corpus on a disk that fills up leaves nothing behind", "[cli][corpus][badargs]") {
  const CorpusPlace place("ng", tiny_newsgroups(1, 6));
  const auto before = place.names();
  const Outcome outcome = place.run("corpus newsgroups ng --pair all --out new", 1500);
  INFO(outcome.err);
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains(".csv"));
  CHECK(place.names() == before);
  CHECK_FALSE(place.has("new"));
}

TEST_CASE("cli: Ctrl-C while a corpus is read ends cleanly", "[cli][corpus]") {
  const Workplace place;
  const std::string pipe = place.path("pipe.tar");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto before = place.names();
  const CorpusFiles files = tiny_newsgroups(1, 2);
  signal(SIGPIPE, SIG_IGN);
  const Outcome outcome = place.run_while("corpus newsgroups pipe.tar --pair 1 --out new", [&](int child) {
    std::ofstream out(pipe);
    for (const auto& [name, bytes] : files) out << tar_member(name, bytes);
    out << std::flush;
    kill(child, SIGINT);  // the pipe stays open: only the signal can end the wait
    for (int i = 0; i < 20000 && out; ++i) out << tar_member("x", std::string(4000, 'x')) << std::flush;
  });
  signal(SIGPIPE, SIG_DFL);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 130);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.empty());
  CHECK(place.names() == before);
  CHECK_FALSE(place.has("new"));
}

TEST_CASE("cli: corpus says where the originals are", "[cli][corpus]") {
  const Workplace place;
  const std::string help = said(place, "corpus --help");
  CHECK_THAT(help, Catch::Contains("qwone.com") && Catch::Contains("daviddlewis.com") &&
                       Catch::Contains("kdd.ics.uci.edu"));
}

}  // namespace bagwise::test
