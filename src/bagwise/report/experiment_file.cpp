#include "bagwise/report/experiment_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/hash.h"
#include "bagwise/core/limits.h"
#include "bagwise/data/csv_records.h"
#include "bagwise/evaluate/arms.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/report/internal/grid_json.h"

namespace bagwise {
namespace {

// A file named in the experiment's, beside which it is looked for.
std::string beside(const std::string& file, const std::string& name) {
  return (std::filesystem::path(file).parent_path() / name).string();
}

void read_selection(const Section& from, TuneOptions& out) {
  from.only({"folds", "repeats", "criterion", "combine", "search", "tau"});
  if (from.has("folds")) out.folds = from.count("folds");
  if (from.has("repeats")) out.repeats = from.count("repeats");
  if (from.has("criterion")) out.criterion = from.choice<Criterion>("criterion");
  if (from.has("combine")) out.combine = from.choice<Combine>("combine");
  if (from.has("search")) out.search = from.choice<Search>("search");
  if (from.has("tau")) out.tau = from.number("tau");
  if (out.folds < 2)
    from.fault().add(fmt::format("\"selection.folds\" is {}; expected at least 2", out.folds));
  if (out.repeats < 1 || out.repeats > 1000)
    from.fault().add(fmt::format("\"selection.repeats\" is {}; expected from 1 to 1000", out.repeats));
  if (!(out.tau > 0)) from.fault().add(fmt::format("\"selection.tau\" is {}; expected more than 0", out.tau));
}

GeneratorOptions generator_from(const Section& from) {
  from.only({"name", "title", "kind", "preset", "seed", "source_rows", "target_rows", "features",
             "best_accuracy", "angle"});
  const auto preset = from.has("preset") ? from.choice<GeneratorPreset>("preset") : GeneratorPreset::kRelated;
  GeneratorOptions out =
      generator_preset(from.choice<GeneratorKind>("kind"), preset, from.has("seed") ? from.count("seed") : 1);
  out.test_rows = 1;  // folds of the target are the test
  if (from.has("source_rows")) out.source_rows = from.count("source_rows");
  if (from.has("target_rows")) out.target_rows = from.count("target_rows");
  if (from.has("features")) out.features = from.count("features");
  if (from.has("best_accuracy")) out.best_accuracy = from.number("best_accuracy");
  if (from.has("angle")) out.angle_degrees = from.number("angle");
  if (auto checked = check(out); !checked) from.fault().add(checked.error().message);
  return out;
}

ExperimentData data_from(const Section& from, const std::string& file) {
  ExperimentData out;
  out.name = from.text("name");
  out.title = from.has("title") ? from.text("title") : out.name;
  if (from.has("pair")) {
    from.only({"name", "title", "pair", "seed", "missing_body"});
    ExperimentPair pair;
    const std::uint64_t number = from.count("pair");
    if (number < 1 || number > 9)
      from.fault().add(fmt::format("\"data.pair\" is {}; expected a pair from 1 to 9", number));
    pair.number = static_cast<int>(std::clamp<std::uint64_t>(number, 1, 9));
    if (from.has("seed")) pair.seed = from.count("seed");
    if (from.has("missing_body")) pair.missing_body = from.choice<MissingBody>("missing_body");
    out.origin = pair;
  } else if (from.has("kind")) {
    out.origin = generator_from(from);
  } else if (from.has("target")) {
    from.only({"name", "title", "target", "source"});
    ExperimentTables tables{"", beside(file, from.text("target"))};
    if (from.has("source")) tables.source = beside(file, from.text("source"));
    out.origin = std::move(tables);
  } else {
    from.fault().add(fmt::format(
        "data \"{}\" does not say where it comes from; expected \"pair\", \"kind\" or \"target\"", out.name));
  }
  return out;
}

// The arms of a method where there are so many sources.
std::vector<Arm> arms_from(const Section& from, const Method& method, std::size_t sources) {
  FirstFault& fault = from.fault();
  std::vector<SettingsPath> paths =
      from.has("grid") ? paths_from(from.at("grid"), fault) : method.default_grid(sources);
  if (from.has("set")) {
    if (!from.at("set").is_object()) {
      fault.add(fmt::format("\"methods.set\" is of type {}; expected an object of options",
                            kind_of(from.at("set"))));
      return {};
    }
    const std::vector<GridAxis> axes = axes_from(from.at("set"), fault);
    if (auto checked = check_size(settings_of(paths).size(), axes); !checked)
      fault.add(checked.error().message);
    if (fault.none()) paths = with_axes(paths, axes);
  }
  if (!fault.none()) return {};
  if (auto checked = check_grid(method, paths); !checked) {
    fault.add(fmt::format("method \"{}\": {}", from.text("name"), checked.error().message));
    return {};
  }
  return arms_by_metric(method, paths);
}

ExperimentMethod method_from(const Section& from, const TuneOptions& selection) {
  from.only({"name", "title", "method", "sources", "grid", "set", "options", "selection"});
  FirstFault& fault = from.fault();
  ExperimentMethod out;
  out.name = from.text("name");
  out.title = from.has("title") ? from.text("title") : out.name;
  out.selection = selection;
  if (from.has("sources")) out.uses_sources = from.flag("sources");
  const std::string called = from.has("method") ? from.text("method") : out.name;
  const Method* method = find_method(called);
  if (method == nullptr) {
    std::vector<std::string> known;
    for (const Method& other : methods()) known.push_back(other.name);
    fault.add(fmt::format("method \"{}\": there is no method \"{}\"; expected {}", out.name, called,
                          fmt::join(known, ", ")));
    return out;
  }
  if (!from.has("options")) {
    if (from.has("selection")) read_selection(from.section("selection"), out.selection);
    out.arms = arms_from(from, *method, 1);
    out.arms_alone = arms_from(from, *method, 0);
    return out;
  }
  for (const char* other : {"grid", "set", "selection"}) {
    if (from.has(other))
      fault.add(
          fmt::format("method \"{}\" has \"options\" and \"{}\": options are one setting, and nothing is "
                      "chosen; expected one of the two",
                      out.name, other));
  }
  out.tuned = false;
  OptionTexts setting;
  const Json& options = from.at("options");
  if (!options.is_object()) {
    fault.add(
        fmt::format("\"methods.options\" is of type {}; expected an object of options", kind_of(options)));
    return out;
  }
  for (const auto& [option, value] : options.items()) setting[option] = option_text(value, option, fault);
  if (!fault.none()) return out;
  if (auto checked = check_grid(*method, {{setting}}); !checked)
    fault.add(fmt::format("method \"{}\": {}", out.name, checked.error().message));
  out.arms = out.arms_alone = arms_by_metric(*method, {{setting}});
  return out;
}

// data,method,bag_size,accuracy,deviation; the last two as shares.
Result<std::vector<PublishedFigure>> read_published(const std::string& path) {
  const std::vector<std::string> expected = {"data", "method", "bag_size", "accuracy", "deviation"};
  std::vector<PublishedFigure> out;
  auto read = read_csv_records(
      path,
      [&](const std::vector<std::string>& names) -> Result<void> {
        if (names == expected) return {};
        return Error{
            fmt::format("has the columns {}; expected {}", fmt::join(names, ","), fmt::join(expected, ",")),
            path, 1};
      },
      [&](const std::vector<std::string_view>& cells, std::uint64_t line) -> Result<void> {
        PublishedFigure figure{std::string(cells[0]), std::string(cells[1])};
        const auto size = cell_count(cells[2], "a bag size");
        const auto accuracy = cell_number(cells[3], "a share"), deviation = cell_number(cells[4], "a share");
        const char* const columns[] = {"3 (bag_size)", "4 (accuracy)", "5 (deviation)"};
        if (!size) return Error{size.error().message, path, line, columns[0]};
        if (!accuracy) return Error{accuracy.error().message, path, line, columns[1]};
        if (!deviation) return Error{deviation.error().message, path, line, columns[2]};
        figure.bag_size = *size;
        figure.accuracy = *accuracy;
        figure.deviation = *deviation;
        out.push_back(std::move(figure));
        return {};
      });
  if (!read) return read.error();
  return out;
}

// Puts the figures of another file into the document itself.
Result<void> embed_published(Json& document, const std::string& file) {
  const auto published = document.find("published");
  if (published == document.end() || !published->is_object() || !published->contains("file")) return {};
  const Json& name = (*published)["file"];
  if (published->contains("figures"))
    return Error{"\"published\" has a \"file\" and \"figures\"; expected one of the two", file};
  if (!name.is_string()) return Error{"\"published.file\" is no text; expected the name of a file", file};
  const auto figures = read_published(beside(file, name.get<std::string>()));
  if (!figures) return figures.error();
  Json list = Json::array();
  for (const PublishedFigure& figure : *figures) {
    list.push_back({{"data", figure.data},
                    {"method", figure.method},
                    {"bag_size", figure.bag_size},
                    {"accuracy", figure.accuracy},
                    {"deviation", figure.deviation}});
  }
  published->erase("file");
  (*published)["figures"] = std::move(list);
  return {};
}

// Names are told apart, and every list has something in it.
template <class T>
void check_names(const std::vector<T>& all, const char* key, FirstFault& fault) {
  if (all.empty()) fault.add(fmt::format("\"{}\" is empty; expected at least one", key));
  std::set<std::string> seen;
  for (const T& one : all) {
    if (one.name.empty()) fault.add(fmt::format("\"{}\" has one without a name", key));
    if (!seen.insert(one.name).second)
      fault.add(fmt::format("\"{}\" has \"{}\" twice; expected a name of its own for each", key, one.name));
  }
}

template <class T>
void check_values(const std::vector<T>& all, const char* key, FirstFault& fault) {
  if (all.empty()) fault.add(fmt::format("\"{}\" is empty; expected at least one", key));
  if (std::set<T>(all.begin(), all.end()).size() != all.size())
    fault.add(fmt::format("\"{}\" has a value twice", key));
}

// Shares, and each once; figures for what is not run are no fault.
void check_published(const std::vector<PublishedFigure>& all, FirstFault& fault) {
  std::set<std::tuple<std::string, std::string, std::uint64_t>> seen;
  for (const PublishedFigure& figure : all) {
    const std::string of = fmt::format("the published figure of {} on {}, bags of {}", figure.method,
                                       figure.data, figure.bag_size);
    if (!(figure.accuracy >= 0 && figure.accuracy <= 1))
      fault.add(fmt::format("{} has the accuracy {}; expected a share from 0 to 1", of, figure.accuracy));
    if (!(figure.deviation >= 0 && figure.deviation <= 1))
      fault.add(fmt::format("{} has the deviation {}; expected a share from 0 to 1", of, figure.deviation));
    if (!seen.insert({figure.data, figure.method, figure.bag_size}).second)
      fault.add(fmt::format("{} is there twice", of));
  }
}

std::size_t count_settings(const std::vector<Arm>& arms) {
  std::size_t out = 0;
  for (const Arm& arm : arms) {
    for (const SettingsPath& path : arm.paths) out += path.size();
  }
  return out;
}

ExperimentPlan plan_from(const Json& document, const std::string& file, FirstFault& fault) {
  const Section top(document, "", fault);
  top.only({"format", "version", "fingerprints", "name", "title", "data", "methods", "bag_sizes", "noise",
            "folds", "run_folds", "seed", "selection", "published"});
  if (top.has("format") && top.text("format") != "bagwise-experiment")
    fault.add(fmt::format("\"format\" is \"{}\"; expected bagwise-experiment", top.text("format")));
  ExperimentPlan out;
  out.name = top.text("name");
  out.title = top.has("title") ? top.text("title") : out.name;
  for (const Json& one : top.array("data")) out.data.push_back(data_from({one, "data", fault}, file));
  TuneOptions selection;
  if (top.has("selection")) read_selection(top.section("selection"), selection);
  std::size_t settings = 0;
  for (const Json& one : top.array("methods")) {
    out.methods.push_back(method_from({one, "methods", fault}, selection));
    settings += count_settings(out.methods.back().arms);
    if (settings > limits::kMostSettings)
      fault.add(
          fmt::format("has methods of more than {} settings in all; expected fewer", limits::kMostSettings));
    if (!fault.none()) return out;
  }
  out.bag_sizes = top.counts("bag_sizes");
  if (top.has("noise")) out.noise = top.numbers("noise");
  if (top.has("folds")) out.folds = top.count("folds");
  out.run_folds = top.has("run_folds") ? top.count("run_folds") : out.folds;
  if (top.has("seed")) out.seed = top.count("seed");
  if (top.has("published")) {
    const Section published = top.section("published");
    published.only({"cite", "figures"});
    out.published_in = published.text("cite");
    for (const Json& one : published.array("figures")) {
      const Section figure(one, "published.figures", fault);
      figure.only({"data", "method", "bag_size", "accuracy", "deviation"});
      out.published.push_back({figure.text("data"), figure.text("method"), figure.count("bag_size"),
                               figure.number("accuracy"), figure.number("deviation")});
    }
  }
  check_published(out.published, fault);
  check_names(out.data, "data", fault);
  check_names(out.methods, "methods", fault);
  check_values(out.bag_sizes, "bag_sizes", fault);
  check_values(out.noise, "noise", fault);
  for (const std::uint64_t size : out.bag_sizes) {
    if (size == 0) fault.add("\"bag_sizes\" has 0; expected sizes from 1");
  }
  for (const double share : out.noise) {
    if (!(share >= 0 && share <= 1))
      fault.add(fmt::format("\"noise\" has {}; expected shares of the rows, from 0 to 1", share));
  }
  if (out.folds < 2) fault.add(fmt::format("\"folds\" is {}; expected at least 2", out.folds));
  if (out.run_folds < 1 || out.run_folds > out.folds)
    fault.add(fmt::format("\"run_folds\" is {}; expected from 1 to all {} folds", out.run_folds, out.folds));
  const double cells = static_cast<double>(out.data.size() * out.methods.size()) *
                       static_cast<double>(out.bag_sizes.size() * out.noise.size()) *
                       static_cast<double>(out.run_folds);
  if (cells > static_cast<double>(limits::kMostCells))
    fault.add(fmt::format("has {:.0f} cells; expected at most {}", cells, limits::kMostCells));
  return out;
}

}  // namespace

Result<ExperimentFile> experiment_from_json(std::string_view text, const std::string& file) {
  auto document = parse_json(text, file, "an experiment (docs/guide/experiments.md)");
  if (!document) return document.error();
  if (!document->is_object())
    return Error{
        fmt::format("is of type {}; expected an object with data, methods and bag_sizes", kind_of(*document)),
        file};
  if (auto embedded = embed_published(*document, file); !embedded) return embedded.error();
  FirstFault fault;
  ExperimentFile out;
  out.plan = plan_from(*document, file, fault);
  if (!fault.none()) return Error{fault.message, file};
  out.document = to_text(*document, 1) + "\n";
  return out;
}

Result<ExperimentFile> read_experiment_file(const std::string& path) {
  auto text = read_file(path, limits::kLargestExperiment);
  if (!text) return text.error();
  return experiment_from_json(*text, path);
}

std::string fingerprint(const ExperimentMethod& method) {
  Fnv1a hash;
  const auto add = [&](const std::string& text) { hash.add(text).add(std::uint64_t{text.size()}); };
  for (const auto* arms : {&method.arms, &method.arms_alone}) {
    hash.add(std::uint64_t{arms->size()});
    for (const Arm& arm : *arms) {
      add(arm.method->name);
      add(arm.metric);
      for (const SettingsPath& path : arm.paths) {
        hash.add(std::uint64_t{path.size()});
        for (const OptionTexts& setting : path) add(setting_text(setting));
      }
    }
  }
  const TuneOptions& s = method.selection;
  add(fmt::format("{} {} {} {} {} {} {} {}", method.uses_sources, method.tuned, s.folds, s.repeats,
                  name_of(s.criterion), name_of(s.combine), name_of(s.search), s.tau));
  return fmt::format("{:016x}", hash.value());
}

}  // namespace bagwise
