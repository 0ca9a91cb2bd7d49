#include "bagwise/report/experiment_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/limits.h"
#include "bagwise/core/version.h"
#include "bagwise/report/internal/json_section.h"

namespace bagwise {
namespace {

constexpr std::string_view kFormat = "bagwise-experiment";

std::string in_folder(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

Json key_json(const ExperimentKey& key) {
  return {{"data", key.data},
          {"method", key.method},
          {"bag_size", key.bag_size},
          {"noise", key.noise},
          {"fold", key.fold}};
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string line_of(const ExperimentResult& result) {
  Json out = key_json(result.key);
  out["accuracy"] = result.accuracy;
  out["balanced_accuracy"] = number_or_null(result.balanced_accuracy);
  out["auc"] = number_or_null(result.auc);
  out["proportion_error"] = result.proportion_error;
  out["options"] = Json::object();
  for (const auto& [name, text] : result.options) out["options"][name] = text;
  return to_text(out) + "\n";
}

std::string line_of(const ExperimentTimes& times) {
  Json out = key_json(times.key);
  out["seconds"] = {{"choose", times.choose}, {"fit", times.fit}, {"total", times.total}};
  out["settings"] = times.settings;
  out["jobs"] = times.jobs;
  return to_text(out) + "\n";
}

ExperimentKey key_from(const Section& from) {
  return {from.text("data"), from.text("method"), from.count("bag_size"), from.number("noise"),
          from.count("fold")};
}

// A number from 0 to 1, which all measures of a cell are.
double share_from(const Section& from, const char* key) {
  const double value = from.number(key);
  if (!(value >= 0 && value <= 1))
    from.fault().add(fmt::format("\"{}\" is {}; expected a share from 0 to 1", key, value));
  return value;
}

std::optional<double> optional_share(const Section& from, const char* key) {
  if (from.at(key).is_null()) return std::nullopt;
  return share_from(from, key);
}

void read_line(const Section& from, std::vector<ExperimentResult>& out) {
  ExperimentResult result{key_from(from),
                          share_from(from, "accuracy"),
                          optional_share(from, "balanced_accuracy"),
                          optional_share(from, "auc"),
                          share_from(from, "proportion_error"),
                          {}};
  const Json& options = from.at("options");
  if (!options.is_object()) from.fault().add("\"options\" is no object");
  for (const auto& [name, value] : options.items()) {
    if (!value.is_string()) from.fault().add(fmt::format("\"options.{}\" is no text", name));
    result.options[name] = value.is_string() ? value.get<std::string>() : "";
  }
  out.push_back(std::move(result));
}

void read_line(const Section& from, std::vector<ExperimentTimes>& out) {
  const Section seconds = from.section("seconds");
  out.push_back({key_from(from), seconds.number("choose"), seconds.number("fit"), seconds.number("total"),
                 from.count("settings"), from.count("jobs")});
}

// The lines of a file, and how many bytes of it are whole lines. A line in the middle that is not one was not
// left by a crash.
template <class T>
Result<std::size_t> read_lines(std::string_view text, const std::string& file, std::vector<T>& out) {
  std::size_t whole = 0;
  std::uint64_t number = 0;
  while (whole < text.size()) {
    const std::size_t end = text.find('\n', whole);
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(whole, end - whole);
    ++number;
    const auto json = parse_json(line, file, "the line of a finished cell");
    const bool last = end + 1 == text.size();
    FirstFault fault;
    if (!json) {
      if (last) break;
      return Error{json.error().message, file, number};
    }
    read_line(Section(*json, "", fault), out);
    if (!fault.none()) return Error{fault.message, file, number};
    whole = end + 1;
  }
  return whole;
}

// A cell has one result: two lines that differ are not of one experiment.
Result<void> check_alike(const std::vector<ExperimentResult>& all, const std::string& file) {
  std::map<ExperimentKey, std::string> seen;
  for (const ExperimentResult& one : all) {
    const std::string line = line_of(one);
    if (seen.emplace(one.key, line).first->second != line) {
      return Error{
          fmt::format("has two different results of {} on {}, bags of {}, fold {}; expected one of each",
                      one.key.method, one.key.data, one.key.bag_size, one.key.fold),
          file};
    }
  }
  return {};
}

// By key, of equal ones the last.
template <class T>
void sort_by_key(std::vector<T>& all) {
  std::stable_sort(all.begin(), all.end(), [](const T& a, const T& b) { return a.key < b.key; });
  std::vector<T> out;
  for (T& one : all) {
    if (!out.empty() && out.back().key == one.key)
      out.back() = std::move(one);
    else
      out.push_back(std::move(one));
  }
  all = std::move(out);
}

// What is in the folder must be of the same experiment.
Result<void> check_same(const ExperimentFile& before, const Json& old, const Json& now,
                        const std::string& file, const ExperimentPlan& plan) {
  const auto differs = [&](const std::string& what) {
    return Error{fmt::format("is of another experiment: {}; expected the same, or another folder", what),
                 file};
  };
  if (before.plan.seed != plan.seed)
    return differs(fmt::format("its seed is {}, not {}", before.plan.seed, plan.seed));
  if (before.plan.folds != plan.folds)
    return differs(fmt::format("it has {} folds, not {}", before.plan.folds, plan.folds));
  for (const char* kind : {"data", "methods"}) {
    if (!old.contains(kind) || !old[kind].is_object()) return differs("its \"fingerprints\" are missing");
    for (const auto& [name, print] : now[kind].items()) {
      const auto there = old[kind].find(name);
      if (there != old[kind].end() && *there != print)
        return differs(fmt::format("there \"{}\" of {} is something else", name, kind));
    }
  }
  return {};
}

}  // namespace

Result<ExperimentRun> read_experiment(const std::string& folder) {
  for (const char* name : {"experiment.json", "results.jsonl", "timings.jsonl"}) {  // a pipe would never end
    std::error_code ignored;
    const std::string file = in_folder(folder, name);
    if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored))
      return Error{"is no ordinary file; expected what bagwise experiment wrote", file};
  }
  auto experiment = read_experiment_file(in_folder(folder, "experiment.json"));
  if (!experiment) return experiment.error();
  ExperimentRun out{std::move(experiment->plan), {}, {}};
  const std::string results = in_folder(folder, "results.jsonl"),
                    timings = in_folder(folder, "timings.jsonl");
  const auto text = read_file(results, limits::kLargestJournal);
  if (!text) return text.error();
  if (auto read = read_lines(*text, results, out.results); !read) return read.error();
  if (auto alike = check_alike(out.results, results); !alike) return alike.error();
  std::error_code code;
  const bool timed = std::filesystem::exists(timings, code);
  if (code) return Error{fmt::format("cannot look at this file: {}", code.message()), timings};
  if (timed) {
    const auto times = read_file(timings, limits::kLargestJournal);
    if (!times) return times.error();
    if (auto read = read_lines(*times, timings, out.times); !read) return read.error();
  }
  sort_by_key(out.results);
  sort_by_key(out.times);
  return out;
}

Result<ExperimentJournal> ExperimentJournal::open(const std::string& folder, const ExperimentFile& experiment,
                                                  const std::map<std::string, std::string>& data) {
  Json prints = {{"data", Json::object()}, {"methods", Json::object()}};
  for (const auto& [name, print] : data) prints["data"][name] = print;
  for (const ExperimentMethod& method : experiment.plan.methods)
    prints["methods"][method.name] = fingerprint(method);

  const std::string results_file = in_folder(folder, "results.jsonl");
  auto results = LineFile::open(results_file, true);  // from here on no other run is at it
  if (!results) return results.error();
  const std::string plan_file = in_folder(folder, "experiment.json");
  std::error_code ignored;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(plan_file, ignored)))
    return Error{"is a symbolic link; expected what bagwise experiment wrote, or nothing", plan_file};
  if (std::filesystem::exists(plan_file, ignored)) {
    const auto before = read_experiment_file(plan_file);
    if (!before) return before.error();
    const Json old = Json::parse(before->document);
    if (auto same = check_same(*before, old.contains("fingerprints") ? old["fingerprints"] : Json::object(),
                               prints, plan_file, experiment.plan);
        !same)
      return same.error();
    // What only the old one had stays known, so that it cannot come back as something else.
    for (const char* kind : {"data", "methods"}) {
      for (const auto& [name, print] : old["fingerprints"][kind].items()) {
        if (!prints[kind].contains(name)) prints[kind][name] = print;
      }
    }
  } else if (!results->text().empty()) {
    return Error{
        "is there without its experiment.json; expected a folder of this experiment, or an empty one",
        results_file};
  }
  const Json now = Json::parse(experiment.document);
  Json document = {{"format", kFormat}, {"version", kVersion}};
  for (const auto& [key, value] : now.items()) {
    if (key != "format" && key != "version" && key != "fingerprints") document[key] = value;
  }
  document["fingerprints"] = std::move(prints);
  if (auto written = write_file(plan_file, to_text(document, 1) + "\n"); !written) return written.error();

  const std::string timings_file = in_folder(folder, "timings.jsonl");
  auto timings = LineFile::open(timings_file);
  if (!timings) return timings.error();
  ExperimentJournal out(std::move(*results), std::move(*timings));
  const auto whole = read_lines(out.results_.text(), results_file, out.found_);
  if (!whole) return whole.error();
  if (auto alike = check_alike(out.found_, results_file); !alike) return alike.error();
  const auto whole_times = read_lines(out.timings_.text(), timings_file, out.found_times_);
  if (!whole_times) return whole_times.error();
  if (auto cut = out.results_.keep_first(*whole); !cut) return cut.error();
  if (auto cut = out.timings_.keep_first(*whole_times); !cut) return cut.error();
  sort_by_key(out.found_);
  sort_by_key(out.found_times_);
  return out;
}

// The times first: a cell that is done has its times.
Result<void> ExperimentJournal::append(const CellOutcome& outcome) {
  if (auto written = timings_.append(line_of(outcome.times)); !written) return written;
  if (auto synced = timings_.sync(); !synced) return synced;
  if (auto written = results_.append(line_of(outcome.result)); !written) return written;
  return results_.sync();
}

}  // namespace bagwise
