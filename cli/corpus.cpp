// bagwise corpus: the pairs of the reference experiment, made of the originals of two public corpora.
#include <fmt/format.h>

#include <filesystem>

#include "bagwise/core/timing.h"
#include "bagwise/data/corpus/corpus.h"
#include "bagwise/data/corpus/corpus_pairs.h"
#include "bagwise/data/write_table.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

// A pair that was asked for, and where it goes.
struct WantedPair {
  const CorpusPair* pair = nullptr;
  std::filesystem::path folder;
  std::string source_file, target_file;
};

Result<std::vector<WantedPair>> wanted_pairs(const Arguments& arguments, CorpusKind kind) {
  const std::string asked = arguments.text("pair");
  const std::filesystem::path out = arguments.text("out");
  std::vector<WantedPair> wanted;
  int first = 0, last = 0;
  for (const CorpusPair& pair : corpus_pairs()) {
    if (pair.corpus != kind) continue;
    if (first == 0) first = pair.number;
    last = pair.number;
    const std::string number = fmt::format("{}", pair.number);
    if (asked != "all" && asked != number) continue;
    const auto folder = asked == "all" ? out / ("pair-" + number) : out;
    wanted.push_back({&pair, folder, (folder / "source.csv").string(), (folder / "target.csv").string()});
  }
  if (!wanted.empty()) return wanted;
  return Error{fmt::format("--pair: \"{}\" is not a pair of {}; expected {} to {}, or all", asked,
                           arguments.text("corpus"), first, last)};
}

Json task_json(const CorpusTask& task, const std::string& file, const Dataset& table,
               const CorpusTaskTally& tally) {
  return {{"name", task.name()},
          {"file", file},
          {"rows", table.rows()},
          {"rows_wanted", task.rows},
          {"positives_found", tally.positives_found},
          {"negatives_found", tally.negatives_found},
          {"empty_rows", tally.empty_rows}};
}

Json pair_json(const WantedPair& wanted, const CorpusTables& tables) {
  const CorpusPair& pair = *wanted.pair;
  return {{"pair", pair.number},
          {"features", tables.target.feature_names.size()},
          {"features_wanted", pair.features},
          {"source", task_json(pair.source, wanted.source_file, tables.source, tables.source_tally)},
          {"target", task_json(pair.target, wanted.target_file, tables.target, tables.target_tally)}};
}

// The tables of one pair, complete: they appear with those of all pairs.
Result<Json> make_pair(const Corpus& corpus, const WantedPair& wanted, std::uint64_t seed, FileGroup& made) {
  const auto tables = make_corpus_pair(corpus, *wanted.pair, seed);
  if (!tables) return tables.error();
  if (auto written = write_table(wanted.source_file, tables->source, &made); !written) return written.error();
  if (auto written = write_table(wanted.target_file, tables->target, &made); !written) return written.error();
  return pair_json(wanted, *tables);
}

Json corpus_json(const Arguments& arguments, const Corpus& corpus) {
  const CorpusTally there = tally(corpus);
  return {{"corpus", arguments.text("corpus")}, {"input", arguments.text("input")},
          {"seed", arguments.whole("seed")},    {"files", corpus.files},
          {"documents", there.documents},       {"without_body", there.without_body},
          {"left_out", there.left_out},         {"same_bytes", there.same_bytes},
          {"same_words", there.same_words},     {"passed_over", corpus.passed_over}};
}

std::string report_text(const Json& report) {
  const auto count = [](const Json& from, const char* name) { return from.at(name).get<std::uint64_t>(); };
  std::string out = fmt::format("{}: {} in {}\n  ", report.at("input").get<std::string>(),
                                count_of(count(report, "documents"), "document", "documents"),
                                count_of(count(report, "files"), "file", "files"));
  if (report.at("corpus") == "reuters")
    out += fmt::format("{} without a BODY, ", count(report, "without_body"));
  out += fmt::format("{} left out for want of words; {} repeat another byte for byte, {} word for word\n",
                     count(report, "left_out"), count(report, "same_bytes"), count(report, "same_words"));
  if (const auto passed = count(report, "passed_over"); passed > 0)
    out += fmt::format("  {} of the archive passed over: links, or names that lead out of it\n",
                       count_of(passed, "member", "members"));
  TextTable table({">pair", "task", "positives", ">rows", ">wanted", ">empty", ">features", "file"});
  for (const Json& pair : report.at("pairs")) {
    for (const char* task : {"source", "target"}) {
      const Json& of = pair.at(task);
      table.add({fmt::format("{}", count(pair, "pair")), task, of.at("name").get<std::string>(),
                 fmt::format("{}", count(of, "rows")), fmt::format("{}", count(of, "rows_wanted")),
                 fmt::format("{}", count(of, "empty_rows")), fmt::format("{}", count(pair, "features")),
                 of.at("file").get<std::string>()});
    }
  }
  return out + "\n" + table.text(2);
}

Result<int> run_corpus(const Arguments& arguments) {
  const auto kind = choice<CorpusKind>(arguments.text("corpus"));
  if (kind != CorpusKind::kReuters && arguments.has("missing-body"))
    return Error{"--missing-body is about reuters; the messages of newsgroups have no such part"};
  const auto wanted = wanted_pairs(arguments, kind);
  if (!wanted) return wanted.error();
  if (arguments.text("out") == "-")
    return Error{"cannot write to standard output; expected the name of a folder", "-"};
  MadeFolders folders;
  std::vector<std::string> files;
  for (const WantedPair& one : *wanted) {
    if (auto created = folders.create(one.folder); !created) return created.error();
    files.push_back(one.source_file);
    files.push_back(one.target_file);
  }
  const std::string input = arguments.text("input");
  if (auto checked = check_outputs(files, {input}); !checked) return checked.error();

  ProgressBar progress(arguments.flag("quiet"));
  const Stopwatch clock;
  const auto corpus = read_corpus(kind, input,
                                  {.missing_body = choice<MissingBody>(arguments.text("missing-body")),
                                   .threads = static_cast<unsigned>(arguments.whole("threads"))},
                                  progress.observer());
  if (!corpus) return corpus.error();
  const double reading = clock.seconds();
  Json report = corpus_json(arguments, *corpus);
  report["pairs"] = Json::array();
  FileGroup made;
  for (const WantedPair& one : *wanted) {
    const Progress done{.phase = "pairs",
                        .done = static_cast<double>(report["pairs"].size()),
                        .total = static_cast<double>(wanted->size())};
    if (progress.observer()(done) == Next::kStop) return 0;
    auto pair = make_pair(*corpus, one, arguments.whole("seed"), made);
    if (!pair) return Error{pair.error().message, pair.error().file.empty() ? input : pair.error().file};
    report["pairs"].push_back(std::move(*pair));
  }
  if (interrupted() != 0) return 0;
  if (auto published = made.publish(); !published) return published.error();
  if (arguments.flag("json")) {
    report["seconds"] = {{"read", reading}, {"total", clock.seconds()}};
    print(to_text(report, 2) + "\n");
  } else if (!arguments.flag("quiet")) {
    print(report_text(report));
  }
  return 0;
}

constexpr const char* kDetails =
    "Writes source.csv and target.csv: labelled, no bags, ready for bagwise bag. Half of each is positive.\n"
    "\n"
    "  pair  source                         target                      words\n"
    "  1     comp.os.ms-windows.misc  2000  comp.windows.x         800  200\n"
    "  2     comp.sys.ibm.pc.hardware 2000  comp.sys.mac.hardware  800  200\n"
    "  3     sci.electronics          2000  sci.med                800  200\n"
    "  4     rec.sport.baseball       2000  rec.sport.hockey       800  200\n"
    "  5     rec.autos                2000  rec.motorcycles        800  200\n"
    "  6     talk.politics.misc       2000  talk.politics.guns     800  200\n"
    "  7     PEOPLE, group 1          1800  PEOPLE, group 2        600  240\n"
    "  8     ORGS, group 1            1800  ORGS, group 2          600  240\n"
    "  9     PEOPLE, group 1          1800  PLACES, group 1        600  240\n"
    "\n"
    "Rows are fewer where a corpus has not that many documents. No text is used twice in a pair: documents\n"
    "of the same words count as one. Features are words, log(1 + tf) * idf, rows of length 1.\n"
    "\n"
    "The originals are not part of bagwise. Get them from their homes:\n"
    "  20 Newsgroups   http://qwone.com/~jason/20Newsgroups/ (20news-19997.tar.gz), or the UCI KDD\n"
    "                  archive, http://kdd.ics.uci.edu/databases/20newsgroups/20newsgroups.html\n"
    "  Reuters-21578   http://www.daviddlewis.com/resources/testcollections/reuters21578/, or the UCI KDD\n"
    "                  archive, http://kdd.ics.uci.edu/databases/reuters21578/reuters21578.html";

}  // namespace

Command corpus_command() {
  std::vector<Option> options = {
      {.name = "corpus",
       .value = "CORPUS",
       .help = "newsgroups: 20 Newsgroups, pairs 1 to 6. reuters: Reuters-21578, pairs 7 to 9",
       .kind = Kind::kChoice,
       .required = true,
       .positional = true,
       .choices = {"newsgroups", "reuters"}},
      {.name = "input",
       .value = "DIR_OR_TAR",
       .help = "the folder that the corpus was unpacked to, or its tar archive (.tar, .tar.gz, .tar.xz, "
               ".tar.bz2, .tar.zst)",
       .required = true,
       .positional = true},
      {.name = "pair",
       .value = "N",
       .help = "which pair; all: every pair of the corpus, each in a folder pair-N of its own",
       .required = true},
      {.name = "out",
       .value = "DIR",
       .help = "the folder for the files; made if it is not there",
       .required = true},
      seed_option(),
      {.name = "missing-body",
       .value = "title|omit",
       .help = "documents of Reuters without a BODY: use their titles (all they have), or leave them out",
       .fallback = "title",
       .kind = Kind::kChoice,
       .choices = {"title", "omit"}},
      threads_option(),
      quiet_option(),
      json_option(),
  };
  return {"corpus",
          "make the reference experiment's tables from 20 Newsgroups or Reuters-21578",
          "newsgroups|reuters DIR_OR_TAR --pair N|all --out DIR [--seed N] [OPTION]...",
          kDetails,
          std::move(options),
          run_corpus};
}

}  // namespace bagwise::cli
