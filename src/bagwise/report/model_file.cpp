#include "bagwise/report/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/hash.h"
#include "bagwise/core/limits.h"
#include "bagwise/report/internal/committee_json.h"
#include "bagwise/report/internal/expansion_json.h"
#include "bagwise/report/internal/json_section.h"
#include "bagwise/report/training_json.h"

namespace bagwise {
namespace {

constexpr std::string_view kFormat = "bagwise-model";
// Of the document without its checksum, written compactly: new lines and spaces do not matter, values do.
std::string checksum_of(const Json& document) {
  return fmt::format("fnv1a64:{:016x}", Fnv1a().add(to_text(document)).value());
}

std::vector<std::pair<std::string, OptionValue>> options_from(const Json& options, FirstFault& fault) {
  std::vector<std::pair<std::string, OptionValue>> out;
  if (!options.is_object()) return out;  // the section has said so
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (const auto& [name, value] : options.items()) {
    OptionValue found;
    if (value.is_boolean()) {
      found = value.get<bool>();
    } else if (value.is_number_float()) {
      found = value.get<double>();
    } else if (value.is_string()) {
      found = value.get<std::string>();
    } else if (value.is_number_integer() &&
               !(value.is_number_unsigned() && value.get<std::uint64_t>() > kLargest)) {
      found = value.get<std::int64_t>();
    } else if (value.is_array() && !value.empty() &&
               std::all_of(value.begin(), value.end(), [](const Json& v) { return v.is_number(); })) {
      found = value.get<std::vector<double>>();
    } else if (!value.is_null()) {
      fault.add(fmt::format("\"options.{}\" is of type {}; expected a number, numbers, a flag, text or null",
                            name, kind_of(value)));
    }
    out.emplace_back(name, std::move(found));
  }
  return out;
}

TaskReport task_report_from(const Section& from) {
  TaskReport out;
  out.name = from.text("name");
  out.instances = from.count("instances");
  if (from.has("norm")) {
    out.norm = from.number("norm");
    out.own_norm = from.number("own_norm");
    out.shared_part = from.number("shared_part");
    out.angles = from.numbers("angles");
  }
  out.bag_names = from.texts("bag");
  out.residual = from.numbers("residual");
  out.shift = from.numbers("shift");
  out.at_bound = from.flags("at_bound");
  return out;
}

int steps_from(double steps, const char* key, FirstFault& fault) {
  if (!(steps >= 0 && steps <= 1e9)) fault.add(fmt::format("\"{}\" has no number of steps", key));
  return static_cast<int>(std::clamp(steps, 0.0, 1e9));
}

TrainingReport training_from(const Section& from) {
  TrainingReport out;
  out.objective = from.number("objective");
  if (from.has("dual_objective")) out.dual_objective = from.number("dual_objective");
  if (from.has("relative_gap")) out.relative_gap = from.number("relative_gap");
  out.termination = from.text("termination");
  const std::uint64_t rounds = from.count("rounds");
  if (rounds > std::numeric_limits<int>::max())
    from.fault().add(fmt::format("\"training.rounds\" is {}; too large", rounds));
  out.rounds = static_cast<int>(rounds % (std::uint64_t{1} << 31));
  out.objective_history = from.numbers("objective_history");
  for (const double steps : from.numbers("solver_steps"))
    out.solver_steps.push_back(steps_from(steps, "training.solver_steps", from.fault()));
  out.instances = from.count("instances");
  out.features = from.count("features");
  out.bags = from.count("bags");
  out.seed = from.count("seed");
  if (from.has("convex_objective")) out.convex_objective = from.number("convex_objective");
  if (from.has("starts")) {
    for (const Json& value : from.array("starts")) {
      const Section start(value, fmt::format("training.starts[{}]", out.starts.size()), from.fault());
      out.starts.push_back({start.text("init"), start.number("objective"),
                            steps_from(start.number("machines"), "training.starts.machines", from.fault())});
    }
  }
  if (from.has("shared_norm")) out.shared_norm = from.number("shared_norm");
  for (const Json& value : from.array("tasks")) {
    out.tasks.push_back(
        task_report_from({value, fmt::format("training.tasks[{}]", out.tasks.size()), from.fault()}));
  }
  out.warnings = from.texts("warnings");
  return out;
}

ModelMetric metric_from(const Section& from) {
  return {from.text("kind"), from.count("rank"), from.number("variance_kept")};
}

Model model_from(const Json& document, FirstFault& fault) {
  const Section top(document, "", fault);
  Model model;
  model.method = top.text("method");
  model.features = top.texts("features");
  model.one_hot = top.texts("one_hot");
  model.missing = top.text("missing");
  model.fill = top.numbers("fill");
  const Section scaling = top.section("scaling");
  model.scaling = {scaling.text("kind"), scaling.numbers("shift"), scaling.numbers("factor")};
  if (top.has("metric")) model.metric = metric_from(top.section("metric"));
  if (top.has("expansion")) model.expansion = expansion_from(top.section("expansion"));
  for (const Json& value : top.array("tasks")) {
    const Section task(value, fmt::format("tasks[{}]", model.tasks.size()), fault);
    const Section probability = task.section("probability");
    model.tasks.push_back({task.text("name"),
                           task.numbers("weights"),
                           task.number("bias"),
                           {probability.number("slope"), probability.number("offset")}});
  }
  if (top.has("shared_weights")) model.shared_weights = top.numbers("shared_weights");
  if (top.has("committee")) model.committee = committee_from(top.section("committee"));
  if (top.has("selection")) model.selection = selection_from(top.section("selection"));
  static_cast<void>(top.section("options"));
  model.options = options_from(top.at("options"), fault);
  model.training = training_from(top.section("training"));
  return model;
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

void check_size(const char* what, std::size_t found, std::size_t expected, bool may_be_empty,
                FirstFault& fault, const char* per = "feature") {
  if (found == expected || (may_be_empty && found == 0)) return;
  fault.add(fmt::format("{} has {} numbers; expected one per {}, {}", what, found, per, expected));
}

// `angles`: how many it has, one per task of a method with a common plane.
void check_task_report(const TaskReport& task, std::size_t angles, FirstFault& fault) {
  const std::size_t bags = task.bag_names.size();
  const auto one_each = [&](std::size_t found) { return found == 0 || found == bags; };
  if (task.residual.size() != bags || !one_each(task.shift.size()) ||
      task.at_bound.size() != task.shift.size() || task.angles.size() != angles) {
    fault.add(fmt::format("the report of task \"{}\" does not have one number per bag, or one angle per task",
                          task.name));
  }
  if (!std::isfinite(task.norm) || !std::isfinite(task.own_norm) || !std::isfinite(task.shared_part) ||
      !all_finite(task.angles) || !all_finite(task.residual) || !all_finite(task.shift)) {
    fault.add(fmt::format("the report of task \"{}\" has a number that is not finite", task.name));
  }
}

// The metric is folded into the planes: nothing is left of it but what is told.
void check_metric(const Model& model, FirstFault& fault) {
  const ModelMetric& metric = model.metric;
  if (metric.kind == "none") return;
  if (metric.kind != "pca")
    return fault.add(fmt::format("\"metric.kind\" is \"{}\"; expected none or pca", metric.kind));
  if (metric.rank < 1 || metric.rank > model.features.size()) {
    fault.add(fmt::format("\"metric.rank\" is {}; expected 1 to the number of features, {}", metric.rank,
                          model.features.size()));
  }
  if (!(metric.variance_kept > 0 && metric.variance_kept <= 1)) {
    fault.add(fmt::format("\"metric.variance_kept\" is {}; expected a share above 0 and at most 1",
                          metric.variance_kept));
  }
  if (model.expansion || model.scaling.kind != "none")
    fault.add("\"metric\" is pca in a model that has a kernel or a scaling; expected neither");
}

// Columns are found by name, tasks too.
void check_names(std::vector<std::string> names, const char* what, FirstFault& fault) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    fault.add(fmt::format("has the {} \"{}\" twice; expected a name of its own for each", what, *twice));
}

// What prediction relies on, true of every model that is written or read.
void check_model(const Model& model, FirstFault& fault) {
  const std::size_t features = model.features.size();
  check_names(model.features, "feature", fault);
  if (model.tasks.empty()) fault.add("has no tasks; expected at least one");
  if (model.expansion) check_expansion(*model.expansion, features, fault);
  const std::size_t weights = model.expansion ? model.expansion->rows.rows() : features;
  const char* per = model.expansion ? "row of the expansion" : "feature";
  for (const TaskModel& task : model.tasks) {
    check_size("a task's \"weights\"", task.weights.size(), weights, false, fault, per);
    if (!all_finite(task.weights) || !std::isfinite(task.bias) || !std::isfinite(task.probability.slope) ||
        !std::isfinite(task.probability.offset)) {
      fault.add(fmt::format("the plane of task \"{}\" has a number that is not finite", task.name));
    }
  }
  if (model.committee && model.expansion) fault.add("has a committee and an expansion; expected one of them");
  if (model.committee) check_committee(*model.committee, model.tasks.size(), features, fault);
  if (model.selection && !std::isfinite(model.selection->value))
    fault.add("\"selection.value\" is not finite");
  check_size("\"shared_weights\"", model.shared_weights.size(), weights, true, fault, per);
  if (!all_finite(model.shared_weights)) fault.add("\"shared_weights\" has a number that is not finite");
  const std::string& kind = model.scaling.kind;
  if (kind != "none" && kind != "standard" && kind != "maxabs") {
    fault.add(fmt::format("\"scaling.kind\" is \"{}\"; expected none, standard or maxabs", kind));
  }
  check_size("\"scaling.factor\"", model.scaling.factor.size(), features, kind == "none", fault);
  check_size("\"scaling.shift\"", model.scaling.shift.size(), model.scaling.factor.size(), false, fault);
  if (!all_finite(model.scaling.factor) || !all_finite(model.scaling.shift)) {
    fault.add("\"scaling\" has a number that is not finite");
  }
  check_metric(model, fault);
  if (model.missing != "error" && model.missing != "mean" && model.missing != "zero") {
    fault.add(fmt::format("\"missing\" is \"{}\"; expected error, mean or zero", model.missing));
  }
  check_size("\"fill\"", model.fill.size(), features, model.missing != "mean", fault);
  if (!all_finite(model.fill)) fault.add("\"fill\" has a number that is not finite");
  const TrainingReport& training = model.training;
  if (!std::isfinite(training.objective) || !std::isfinite(training.dual_objective.value_or(0)) ||
      !std::isfinite(training.relative_gap.value_or(0)) || !all_finite(training.objective_history) ||
      !std::isfinite(training.convex_objective.value_or(0)) ||
      !std::isfinite(training.shared_norm.value_or(0))) {
    fault.add("\"training\" has a number that is not finite");
  }
  for (const StartReport& start : training.starts) {
    if (!std::isfinite(start.objective)) fault.add("\"training.starts\" has a number that is not finite");
  }
  const std::size_t angles = training.shared_norm ? training.tasks.size() : 0;
  for (const TaskReport& task : training.tasks) check_task_report(task, angles, fault);
}

Json document_of(const Model& model) {
  // From null to an object is a step in which the JSON library is not safe when memory runs out.
  Json document = Json::object();
  document["format"] = kFormat;
  document["format_version"] = kModelFormatVersion;
  document["method"] = model.method;
  document["features"] = model.features;
  document["one_hot"] = model.one_hot;
  document["missing"] = model.missing;
  document["fill"] = model.fill;
  document["scaling"] = {
      {"kind", model.scaling.kind}, {"shift", model.scaling.shift}, {"factor", model.scaling.factor}};
  if (model.metric.kind != "none") {
    document["metric"] = {{"kind", model.metric.kind},
                          {"rank", model.metric.rank},
                          {"variance_kept", model.metric.variance_kept}};
  }
  if (model.expansion) document["expansion"] = expansion_json(*model.expansion);
  document["tasks"] = Json::array();
  for (const TaskModel& task : model.tasks) {
    document["tasks"].push_back(
        {{"name", task.name},
         {"weights", task.weights},
         {"bias", task.bias},
         {"probability", {{"slope", task.probability.slope}, {"offset", task.probability.offset}}}});
  }
  if (!model.shared_weights.empty()) document["shared_weights"] = model.shared_weights;
  if (model.committee) document["committee"] = committee_json(*model.committee);
  if (model.selection) document["selection"] = to_json(*model.selection);
  document["options"] = to_json(model.options);
  document["training"] = to_json(model.training);
  return document;
}

// Takes the checksum out of the document and compares it with the rest.
void check_checksum(Json& document, FirstFault& fault) {
  const Json found = document.value("checksum", Json());
  document.erase("checksum");
  if (found.is_null()) return fault.add("has no \"checksum\"");
  if (const std::string expected = checksum_of(document); found != Json(expected)) {
    fault.add(
        fmt::format("the checksum does not match: the file was edited or damaged; expected {}", expected));
  }
}

// That the document is a model of a version we read, whole and unedited.
void check_envelope(Json& document, FirstFault& fault) {
  const Section top(document, "", fault);
  if (!fault.none()) return;
  if (!top.has("format") || top.at("format") != Json(kFormat)) {
    return fault.add(fmt::format("is not a bagwise model: expected \"format\": \"{}\"", kFormat));
  }
  const std::uint64_t version = top.count("format_version");
  if (!fault.none()) return;
  if (version > kModelFormatVersion) {
    return fault.add(
        fmt::format("has format version {}; this bagwise reads up to version {}: use a newer bagwise",
                    version, kModelFormatVersion));
  }
  if (version < 1) return fault.add(fmt::format("has format version {}; expected at least 1", version));
  check_checksum(document, fault);
}

}  // namespace

std::string model_to_json(const Model& model) {
  Json document = document_of(model);
  document["checksum"] = checksum_of(document);
  // One line per key: short enough to read, and a difference of two models shows where it is.
  std::string out = "{";
  for (const auto& [key, value] : document.items()) {
    out += fmt::format("{}\n{}: {}", out.size() == 1 ? "" : ",", to_text(Json(key)), to_text(value));
  }
  return out + "\n}\n";
}

Result<Model> model_from_json(std::string_view text, const std::string& file) {
  auto parsed = parse_json(text, file, "a bagwise model");
  if (!parsed) return parsed.error();
  Json& document = *parsed;
  FirstFault fault;
  check_envelope(document, fault);
  Model model;
  if (fault.none()) model = model_from(document, fault);
  if (fault.none()) check_model(model, fault);
  if (!fault.none()) return Error{fault.message, file};
  return model;
}

Result<void> save_model(const std::string& path, const Model& model) {
  FirstFault fault;
  check_model(model, fault);
  for (const std::string& name : model.features) {
    if (is_utf8(name)) continue;
    fault.add(fmt::format("cannot write this model: the feature name \"{}\" is not UTF-8 text", name));
  }
  if (!fault.none()) return Error{fault.message, path};
  return write_file(path, model_to_json(model));
}

Result<Model> load_model(const std::string& path) {
  auto text = read_file(path, limits::kLargestModel);
  if (!text) return text.error();
  return model_from_json(*text, path);
}

}  // namespace bagwise
