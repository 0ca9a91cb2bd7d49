// bagwise experiment: a grid of methods, data, bag sizes and noise, run cell by cell; stopped, it goes on.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "bagwise/comm/agree.h"
#include "bagwise/core/parallel.h"
#include "bagwise/core/timing.h"
#include "bagwise/evaluate/experiment.h"
#include "bagwise/report/experiment_file.h"
#include "bagwise/report/experiment_journal.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

struct FailedCell {
  ExperimentKey key;
  Error error;
};

std::string cell_text(const ExperimentKey& key) {
  return fmt::format("{} on {}, bags of {}, noise {}, fold {}", key.method, key.data, key.bag_size, key.noise,
                     key.fold);
}

std::string corpora_folder(const Arguments& arguments) {
  if (arguments.has("corpora")) return arguments.text("corpora");
  const char* folder = std::getenv("BAGWISE_CORPORA");
  return folder == nullptr ? "" : folder;
}

struct Loaded {
  std::vector<LabelledTasks> rows;
  std::map<std::string, std::string> prints;
};

Result<Loaded> load_all(const ExperimentPlan& plan, const Arguments& arguments, const Observer& observer) {
  ExperimentLoader loader(corpora_folder(arguments), static_cast<unsigned>(arguments.whole("jobs")));
  Loaded out;
  for (const ExperimentData& data : plan.data) {
    auto rows = loader.load(data, observer);
    if (!rows) {
      Error error = rows.error();
      // Readers name the option of other commands that would help; here tables must be whole.
      if (const auto hint = error.message.find(" (--"); hint != std::string::npos)
        error.message.replace(hint, std::string::npos, "; expected numbers in every cell of a feature");
      if (std::holds_alternative<ExperimentPair>(data.origin) && corpora_folder(arguments).empty())
        error.message += "; name it with --corpora or BAGWISE_CORPORA";
      return error;
    }
    out.prints[data.name] = fmt::format("{:016x}", fingerprint(*rows));
    out.rows.push_back(std::move(*rows));
  }
  return out;
}

// How far the run is, for a terminal by its bar, else by a line for each tenth.
class CellClock {
 public:
  CellClock(const std::vector<ExperimentKey>& wanted, std::vector<ExperimentTimes> before, unsigned jobs,
            bool quiet)
      : left_(wanted.begin(), wanted.end()),
        done_(std::move(before)),
        total_(wanted.size()),
        jobs_(jobs),
        lines_(!quiet && isatty(STDERR_FILENO) == 0) {}

  void add(const ExperimentKey& key, const ExperimentTimes* times) {
    left_.erase(key);
    if (times != nullptr) done_.push_back(*times);
    const std::size_t tenth = 10 * (total_ - left_.size()) / total_;
    if (!lines_ || tenth == tenth_ || left_.empty()) return;
    tenth_ = tenth;
    const auto seconds = seconds_left();
    std::fputs(fmt::format("{} of {} cells{}\n", total_ - left_.size(), total_,
                           seconds ? ", about " + time_left(*seconds) : "")
                   .c_str(),
               stderr);
  }

  [[nodiscard]] std::optional<double> seconds_left() const {
    const std::vector<ExperimentKey> left(left_.begin(), left_.end());
    const auto seconds = seconds_for(left, done_);
    if (!seconds) return seconds;
    return *seconds / jobs_;
  }

 private:
  std::set<ExperimentKey> left_;
  std::vector<ExperimentTimes> done_;
  std::size_t total_, tenth_ = 0;
  unsigned jobs_;
  bool lines_;
};

struct MethodMeans {
  double accuracy = 0, proportion_error = 0, seconds = 0, cells = 0;
};

std::map<std::string, MethodMeans> means_of(const ExperimentRun& run) {
  std::map<std::string, MethodMeans> out;
  for (const ExperimentResult& result : run.results) {
    MethodMeans& means = out[result.key.method];
    means.accuracy += result.accuracy;
    means.proportion_error += result.proportion_error;
    ++means.cells;
  }
  for (const ExperimentTimes& times : run.times) {
    const auto found = out.find(times.key.method);
    if (found != out.end()) found->second.seconds += times.total;
  }
  for (auto& [name, means] : out) {
    for (double* sum : {&means.accuracy, &means.proportion_error, &means.seconds}) *sum /= means.cells;
  }
  return out;
}

struct Summary {
  std::size_t cells = 0, before = 0, now = 0;
  double seconds = 0;
  std::string folder;
};

std::string summary_text(const Summary& summary, const ExperimentRun& run) {
  const std::size_t done = summary.before + summary.now;
  std::string out = fmt::format("{}: {} of {} done ({} now, {} before) in {:.1f} s, in {}\n\n",
                                printable(run.plan.title), done, count_of(summary.cells, "cell", "cells"),
                                summary.now, summary.before, summary.seconds, summary.folder);
  const auto means = means_of(run);
  TextTable table({"method", ">cells", ">accuracy", ">proportion error", ">seconds a cell"});
  for (const ExperimentMethod& method : run.plan.methods) {
    const auto found = means.find(method.name);
    if (found == means.end()) continue;
    const MethodMeans& m = found->second;
    table.add({method.title, fmt::format("{:.0f}", m.cells), share(m.accuracy), share(m.proportion_error),
               fmt::format("{:.2f}", m.seconds)});
  }
  out += table.text(2);
  return out + fmt::format("\nbagwise report {} -o report.html makes a page of it\n", summary.folder);
}

std::string summary_json(const Summary& summary, const ExperimentRun& run,
                         const std::vector<FailedCell>& failed) {
  Json out = {
      {"name", run.plan.name},         {"cells", summary.cells},  {"done", summary.before + summary.now},
      {"done_before", summary.before}, {"failed", Json::array()}, {"methods", Json::array()},
      {"seconds", summary.seconds},    {"folder", summary.folder}};
  for (const FailedCell& cell : failed)
    out["failed"].push_back({{"cell", cell_text(cell.key)}, {"error", cell.error.text()}});
  const auto means = means_of(run);
  for (const ExperimentMethod& method : run.plan.methods) {
    const auto found = means.find(method.name);
    if (found == means.end()) continue;
    out["methods"].push_back({{"method", method.name},
                              {"cells", found->second.cells},
                              {"accuracy", found->second.accuracy},
                              {"proportion_error", found->second.proportion_error},
                              {"seconds", found->second.seconds}});
  }
  return to_text(out, 2) + "\n";
}

Result<int> run_experiment_command(const Arguments& arguments) {
  const Stopwatch total;
  const auto experiment = read_experiment_file(arguments.text("file"));
  if (!experiment) return experiment.error();
  const ExperimentPlan& plan = experiment->plan;
  const std::string folder = arguments.text("out");
  if (folder == "-") return Error{"cannot write to standard output; expected the name of a folder", "-"};
  const auto asked = static_cast<unsigned>(arguments.whole("jobs"));
  const unsigned jobs = asked > 0 ? asked : default_threads();
  const bool quiet = arguments.flag("quiet");
  Communicator* const ranks = arguments.comm();
  const bool writes = ranks == nullptr || ranks->rank() == 0;  // rank 0 alone does
  const auto agreed_on = [&](const Result<void>& mine) {
    return ranks != nullptr ? agree(*ranks, mine) : mine;
  };
  MadeFolders folders;
  if (auto created = agreed_on(writes ? folders.create(folder) : Result<void>()); !created)
    return created.error();

  Summary summary{.folder = folder};
  std::vector<FailedCell> failed;
  {
    ProgressBar bar(quiet || silent());
    const auto loaded = load_all(plan, arguments, bar.observer());
    if (interrupted() != 0) return 0;
    if (auto read = agreed_on(loaded ? Result<void>() : Result<void>(loaded.error())); !read)
      return read.error();
    std::optional<ExperimentJournal> journal;
    Result<void> opened;
    if (writes) {
      auto made = ExperimentJournal::open(folder, *experiment, loaded->prints);
      if (made)
        journal.emplace(std::move(*made));
      else
        opened = made.error();
    }
    if (opened = agreed_on(opened); !opened) return opened.error();
    std::set<ExperimentKey> found;
    if (journal) {
      for (const ExperimentResult& result : journal->found()) found.insert(result.key);
    }
    const std::vector<ExperimentKey> keys = keys_of(plan);
    std::string missing;  // '1' for each cell that is not there
    for (const ExperimentKey& key : keys) missing += found.contains(key) ? '0' : '1';
    if (ranks != nullptr) missing = ranks->gather(writes ? missing : "")[0];
    std::vector<ExperimentKey> wanted;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ++summary.cells;
      if (missing[i] == '1') wanted.push_back(keys[i]);
    }
    summary.before = summary.cells - wanted.size();
    const unsigned at_once = jobs * static_cast<unsigned>(ranks != nullptr ? ranks->size() : 1);
    CellClock clock(wanted, journal ? journal->found_times() : std::vector<ExperimentTimes>(), at_once,
                    quiet || silent());
    const ExperimentSink sink{.done = [&](const CellOutcome& outcome) -> Result<void> {
                                if (auto kept = journal->append(outcome); !kept) return kept;
                                ++summary.now;
                                clock.add(outcome.result.key, &outcome.times);
                                bar.expect(clock.seconds_left());
                                return {};
                              },
                              .failed =
                                  [&](const ExperimentKey& key, const Error& error) {
                                    failed.push_back({key, error});
                                    clock.add(key, nullptr);
                                  }};
    const auto ran = run_experiment(plan, loaded->rows, wanted, jobs, sink, bar.observer(), ranks);
    if (!ran && interrupted() != 0) {
      remark(
          fmt::format("\nbagwise: stopped; {} of {} cells are kept in {}: the same command goes on from "
                      "there\n",
                      summary.before + summary.now, summary.cells, printable(folder)));
      return 0;
    }
    if (!ran) return ran.error();
  }
  for (const FailedCell& cell : failed) {
    std::fputs(
        fmt::format("bagwise: failed: {}: {}\n", printable(cell_text(cell.key)), printable(cell.error.text()))
            .c_str(),
        stderr);
  }
  if (!writes) return 0;
  const auto run = read_experiment(folder);
  if (!run) return run.error();
  summary.seconds = total.seconds();
  if (arguments.flag("json")) {
    print(summary_json(summary, *run, failed));
  } else if (!quiet) {
    print(summary_text(summary, *run));
  }
  return failed.empty() ? 0 : 1;
}

}  // namespace

Command experiment_command() {
  std::vector<Option> options = {
      {.name = "file",
       .value = "FILE.json",
       .help = "what to run: data, methods with their grids, bag sizes, noise, folds",
       .required = true,
       .positional = true},
      {.name = "out",
       .value = "DIR",
       .help = "the folder of the results, made if it is not there; one that has some is gone on with",
       .required = true},
      {.name = "jobs",
       .value = "N",
       .help = "cells at once; 0: one per core. Results do not depend on it",
       .fallback = "0",
       .kind = Kind::kWhole,
       .most = 4096},
      {.name = "corpora",
       .value = "DIR",
       .help =
           "for corpus pairs: the folder that has 20news-19997 and reuters21578, unpacked or as tar archives",
       .shown = "the environment variable BAGWISE_CORPORA"},
      quiet_option(),
      json_option(),
  };
  return {
      "experiment",
      "run methods on data, bag sizes and levels of noise, cell by cell",
      "FILE.json --out DIR [--jobs N] [OPTION]...",
      "Rows with labels are dealt into bags; every method learns from the bags alone, with options chosen "
      "on\n"
      "held-out bags, and is judged on rows it has not seen. Each finished cell is one line of\n"
      "DIR/results.jsonl, its times one of DIR/timings.jsonl. Stopped at any moment, even by a power cut, "
      "the\n"
      "same command goes on from there and comes to the same results. bagwise report DIR makes a page of "
      "them.\n"
      "\n"
      "experiments/ of the sources has the files of the reference experiment (reference.json, beyond.json,\n"
      "noise.json, time.json) and a quick one on generated data (quick.json).",
      std::move(options),
      run_experiment_command,
      true};
}

}  // namespace bagwise::cli
