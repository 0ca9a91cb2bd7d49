#include "bagwise/report/tuning_journal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include "bagwise/core/hash.h"
#include "bagwise/core/version.h"
#include "bagwise/linalg/hash_places.h"
#include "bagwise/report/internal/json_section.h"

namespace bagwise {
namespace {

constexpr std::string_view kFormat = "bagwise-tuning";

constexpr std::string_view kStart = "{\"format\":\"bagwise-tuning\"";  // of every journal

std::string header_of(const std::string& fingerprint) {
  return to_text(Json{{"format", kFormat}, {"version", kVersion}, {"fingerprint", fingerprint}}) + "\n";
}

Json to_json(const FoldOutcome& outcome) {
  Json planes = Json::array();
  for (const TaskModel& task : outcome.planes) {
    planes.push_back({{"name", task.name},
                      {"weights", task.weights},
                      {"bias", task.bias},
                      {"slope", task.probability.slope},
                      {"offset", task.probability.offset}});
  }
  return {{"value", outcome.value}, {"planes", std::move(planes)}};
}

FoldOutcome outcome_from(const Section& from) {
  FoldOutcome out;
  out.value = from.number("value");
  for (const Json& value : from.array("planes")) {
    const Section plane(value, "planes", from.fault());
    out.planes.push_back({plane.text("name"),
                          plane.numbers("weights"),
                          plane.number("bias"),
                          {plane.number("slope"), plane.number("offset")}});
  }
  return out;
}

// A line as it was written, or nothing.
std::optional<std::pair<std::string, PathOutcome>> line_from(std::string_view line) {
  const auto json = parse_json(line, "", "a line of the journal");
  if (!json) return std::nullopt;
  FirstFault fault;
  const Section top(*json, "", fault);
  std::pair<std::string, PathOutcome> out;
  out.first = top.text("key");
  for (const Json& value : top.array("settings"))
    out.second.push_back(outcome_from({value, "settings", fault}));
  if (!fault.none()) return std::nullopt;
  return out;
}

}  // namespace

std::string tuning_fingerprint(std::span<const TrainingTask> tasks, const TuneOptions& options,
                               std::uint64_t seed) {
  Fnv1a hash;
  const auto add_names = [&](const std::vector<std::string>& all) {
    for (const std::string& name : all) hash.add(name).add(name.size());
  };
  for (const TrainingTask& task : tasks) {
    const ReducedBags& data = task.reduced;
    add_names(data.feature_names);
    add_names(data.bags.names);
    hash.add(data.bags.proportions).add(data.bags.noise).add(data.sums.pack());
    if (task.rows == nullptr) continue;
    for (const std::uint32_t k : task.rows->bag_of_row) hash.add(std::uint64_t{k});
    const RowsView rows = task.rows->features.view();
    hash.add(stored_values(rows)).add(task.rows->bounds);
    add_places(hash, rows);
  }
  hash.add(seed).add(options.folds).add(options.repeats);
  hash.add(static_cast<std::uint64_t>(options.criterion));
  hash.add(std::uint64_t{options.combine == Combine::kBest ? 0U : 1U});
  return fmt::format("{:016x}", hash.value());
}

Result<std::unique_ptr<TuningJournal>> TuningJournal::open(const std::string& path,
                                                           const std::string& fingerprint) {
  auto file = LineFile::open(path);
  if (!file) return file.error();
  auto out = std::make_unique<TuningJournal>(Made{}, path, std::move(*file));
  const std::string& text = out->file_.text();
  std::string_view rest = text;
  const std::string header = header_of(fingerprint);
  std::size_t whole = 0;  // bytes of lines that are
  if (rest.starts_with(header)) {
    whole = header.size();
    rest.remove_prefix(header.size());
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      auto line = line_from(rest.substr(0, end));
      if (!line) break;
      out->found_ += line->second.size();
      out->known_.insert(std::move(*line));
      whole += end + 1;
      rest.remove_prefix(end + 1);
    }
  }
  // Names can be chosen badly: what is no journal stays as it is.
  if (whole == 0 && !text.starts_with(kStart) && !kStart.starts_with(text))
    return Error{"is no journal of a tuning; expected a file that this command wrote, or none", path};
  if (auto cut = out->file_.keep_first(whole); !cut) return cut.error();
  if (whole == 0) {
    if (auto written = out->file_.append(header); !written) return written.error();
  }
  return out;
}

Memory TuningJournal::memory() {
  return {.recall = [this](const std::string& key) -> std::optional<PathOutcome> {
            const auto known = known_.find(key);
            if (known == known_.end()) return std::nullopt;
            return known->second;
          },
          .keep = [this](const std::string& key, const PathOutcome& outcome) { append(key, outcome); }};
}

void TuningJournal::append(const std::string& key, const PathOutcome& outcome) {
  Json settings = Json::array();
  for (const FoldOutcome& fold : outcome) settings.push_back(to_json(fold));
  const std::string line = to_text(Json{{"key", key}, {"settings", std::move(settings)}}) + "\n";
  Result<void> written = file_.append(line);
  // A sync can take longer than a fit; what is written outlives this process without it.
  constexpr double kSecondsBetweenSyncs = 1;
  if (written && since_sync_.seconds() >= kSecondsBetweenSyncs) {
    written = file_.sync();
    since_sync_ = {};
  }
  if (!written && fault_.empty()) fault_ = written.error().message;
  added_ += outcome.size();
}

void TuningJournal::remove() { ::unlink(path_.c_str()); }

}  // namespace bagwise
