// The folder of an experiment: its results.jsonl, and its timings.jsonl.
#include <filesystem>
#include <map>

#include "bagwise/core/atomic_file.h"
#include "bagwise/report/experiment_journal.h"
#include "harness.h"

namespace bagwise::fuzz {
namespace {

constexpr std::string_view kPlan =
    R"({"name": "a", "data": [{"name": "d", "kind": "gaussian"}], "methods": [{"name": "inv-cal", "options": {"C": 1}}],
        "bag_sizes": [2], "folds": 2})";

std::string file_text(const std::string& path) {
  const auto text = read_file(path, 64 * kMiB);
  require(text.ok(), "a file of the folder can be read");
  return *text;
}

const std::map<std::string, std::string> kPrints = {{"d", "print"}};

// experiment.json as this program writes it into a folder.
std::string document_of(const ExperimentFile& plan) {
  const std::string folder = input_path("fresh");
  std::filesystem::create_directories(folder);
  require(ExperimentJournal::open(folder, plan, kPrints).ok(), "an experiment can begin");
  return file_text(folder + "/experiment.json");
}

// A folder of this experiment in which one file is the input.
void fuzz_folder(const ExperimentFile& plan, const std::string& document, const std::string& file,
                 std::string_view input) {
  const std::string folder = input_path("run");
  std::filesystem::create_directories(folder);
  input_file("run/experiment.json", document);
  for (const char* const other : {"results.jsonl", "timings.jsonl"})
    input_file(std::string("run/") + other, "");
  const std::string path = input_file("run/" + file, input);
  const auto run = read_experiment(folder);
  if (!run) require_error(run.error());
  const auto journal = ExperimentJournal::open(folder, plan, kPrints);
  require(alike(run, journal), "a run goes on where it can be read");
  if (!journal) return;
  require(
      journal->found().size() == run->results.size() && journal->found_times().size() == run->times.size(),
      "a run that goes on knows what was read");
  const std::string left = file_text(path);
  require(input.starts_with(left) && (left.empty() || left.back() == '\n'), "what is not whole is cut off");
}

}  // namespace

const Bound kBound{.fixed = 4 * kMiB, .per_byte = 2048};

void fuzz_one(std::string_view input) {
  static const auto plan = experiment_from_json(kPlan, input_path("experiment.json"));
  require(plan.ok(), plan ? "" : "the plan is right: " + plan.error().text());
  static const std::string document = document_of(*plan);
  for (const char* const file : {"results.jsonl", "timings.jsonl"}) fuzz_folder(*plan, document, file, input);
}

}  // namespace bagwise::fuzz
