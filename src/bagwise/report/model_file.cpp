#include "bagwise/report/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bagwise/core/atomic_file.h"
#include "bagwise/report/training_json.h"

namespace bagwise {
namespace {

constexpr std::string_view kFormat = "bagwise-model";
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;  // 50 million weights
constexpr int kDeepest = 16;                                    // a model nests four deep
constexpr std::size_t kMostMembers = 20000;  // of all objects together: more would be slow to look up

// FNV-1a, 64 bits: each step is one-to-one in the state, so that one changed byte always changes the end.
std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

// Of the document without its checksum, written compactly: new lines and spaces do not matter, values do.
std::string checksum_of(const Json& document) {
  return fmt::format("fnv1a64:{:016x}", fnv1a(to_text(document)));
}

// One fault of a document, thrown and caught in this file only.
struct Fault {
  std::string message;
};
[[noreturn]] void fail(std::string message) { throw Fault{std::move(message)}; }

// What no parser should be trusted with: nesting that would overrun the stack, and objects made of endless
// members.
void check_shape(std::string_view text) {
  int depth = 0;
  std::size_t members = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest)
        fail(fmt::format("nests more than {} deep; this is not a bagwise model", kDeepest));
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ':') {
      if (++members > kMostMembers) {
        fail(fmt::format("has more than {} keys; this is not a bagwise model", kMostMembers));
      }
    }
  }
}

Json parse(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    fail("the file is empty; expected a bagwise model");
  }
  check_shape(text);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    if (error.byte > text.size())
      fail("the file ends too early: it is truncated; expected a whole bagwise model");
    fail(fmt::format("is not a bagwise model: not JSON at byte {}", error.byte));
  } catch (const Json::exception&) {
    fail("is not a bagwise model: a number is out of range");
  }
}

const char* kind_of(const Json& value) { return value.type_name(); }

// One object of the document; every getter fails with the key, what was found and what was expected.
class Section {
 public:
  Section(const Json& value, std::string name) : value_(value), name_(std::move(name)) {
    if (!value.is_object())
      fail(fmt::format("\"{}\" is of type {}; expected an object", name_, kind_of(value)));
  }

  [[nodiscard]] bool has(const char* key) const { return value_.contains(key); }
  [[nodiscard]] const Json& at(const char* key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) fail(fmt::format("has no \"{}\"", path(key)));
    return *found;
  }
  [[nodiscard]] Section section(const char* key) const { return {at(key), path(key)}; }
  [[nodiscard]] std::string text(const char* key) const { return text(at(key), path(key)); }
  [[nodiscard]] double number(const char* key) const { return number(at(key), path(key)); }
  [[nodiscard]] std::uint64_t count(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number_unsigned()) {
      fail(fmt::format("\"{}\" is {}; expected a whole number from 0", path(key), shown(value)));
    }
    return value.get<std::uint64_t>();
  }
  [[nodiscard]] const Json& array(const char* key) const {
    const Json& value = at(key);
    if (!value.is_array())
      fail(fmt::format("\"{}\" is of type {}; expected an array", path(key), kind_of(value)));
    return value;
  }
  [[nodiscard]] std::vector<double> numbers(const char* key) const {
    std::vector<double> out;
    for (const Json& value : array(key)) out.push_back(number(value, path(key)));
    return out;
  }
  [[nodiscard]] std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> out;
    for (const Json& value : array(key)) out.push_back(text(value, path(key)));
    return out;
  }

 private:
  [[nodiscard]] std::string path(const char* key) const { return name_.empty() ? key : name_ + "." + key; }
  static std::string shown(const Json& value) {
    const std::string text = to_text(value);
    return text.size() <= 40 ? text : fmt::format("of type {}", kind_of(value));
  }
  static double number(const Json& value, const std::string& where) {
    if (!value.is_number()) fail(fmt::format("\"{}\" has {}; expected a finite number", where, shown(value)));
    return value.get<double>();
  }
  static std::string text(const Json& value, const std::string& where) {
    if (!value.is_string()) fail(fmt::format("\"{}\" has {}; expected text", where, shown(value)));
    return value.get<std::string>();
  }

  const Json& value_;
  std::string name_;
};

OptionValue option_value(const Json& value, const std::string& name) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer() && (!value.is_number_unsigned() ||
                                    value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max())) {
    return value.get<std::int64_t>();
  }
  fail(fmt::format("\"options.{}\" is of type {}; expected a number, a flag, text or null", name,
                   kind_of(value)));
}

TrainingReport training_from(const Section& from) {
  TrainingReport out;
  out.objective = from.number("objective");
  if (from.has("dual_objective")) out.dual_objective = from.number("dual_objective");
  if (from.has("relative_gap")) out.relative_gap = from.number("relative_gap");
  out.termination = from.text("termination");
  const std::uint64_t rounds = from.count("rounds");
  if (rounds > std::numeric_limits<int>::max())
    fail(fmt::format("\"training.rounds\" is {}; too large", rounds));
  out.rounds = static_cast<int>(rounds);
  out.objective_history = from.numbers("objective_history");
  out.instances = from.count("instances");
  out.features = from.count("features");
  out.bags = from.count("bags");
  out.seed = from.count("seed");
  out.warnings = from.texts("warnings");
  return out;
}

Model model_from(const Json& document) {
  const Section top(document, "");
  Model model;
  model.method = top.text("method");
  model.features = top.texts("features");
  model.one_hot = top.texts("one_hot");
  model.missing = top.text("missing");
  model.fill = top.numbers("fill");
  const Section scaling = top.section("scaling");
  model.scaling = {scaling.text("kind"), scaling.numbers("shift"), scaling.numbers("factor")};
  for (const Json& value : top.array("tasks")) {
    const Section task(value, fmt::format("tasks[{}]", model.tasks.size()));
    const Section probability = task.section("probability");
    model.tasks.push_back({task.text("name"),
                           task.numbers("weights"),
                           task.number("bias"),
                           {probability.number("slope"), probability.number("offset")}});
  }
  static_cast<void>(top.section("options"));
  for (const auto& [name, value] : document["options"].items()) {
    model.options.emplace_back(name, option_value(value, name));
  }
  model.training = training_from(top.section("training"));
  return model;
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

void check_size(const char* what, std::size_t found, std::size_t features, bool may_be_empty) {
  if (found == features || (may_be_empty && found == 0)) return;
  fail(fmt::format("{} has {} numbers; expected one per feature, {}", what, found, features));
}

// What prediction relies on, true of every model that is written or read.
void check_model(const Model& model) {
  const std::size_t features = model.features.size();
  if (model.tasks.empty()) fail("has no tasks; expected at least one");
  for (const TaskModel& task : model.tasks) {
    check_size("a task's \"weights\"", task.weights.size(), features, false);
    if (!all_finite(task.weights) || !std::isfinite(task.bias) || !std::isfinite(task.probability.slope) ||
        !std::isfinite(task.probability.offset)) {
      fail(fmt::format("the plane of task \"{}\" has a number that is not finite", task.name));
    }
  }
  const std::string& kind = model.scaling.kind;
  if (kind != "none" && kind != "standard" && kind != "maxabs") {
    fail(fmt::format("\"scaling.kind\" is \"{}\"; expected none, standard or maxabs", kind));
  }
  check_size("\"scaling.factor\"", model.scaling.factor.size(), features, kind == "none");
  check_size("\"scaling.shift\"", model.scaling.shift.size(), model.scaling.factor.size(), false);
  if (!all_finite(model.scaling.factor) || !all_finite(model.scaling.shift)) {
    fail("\"scaling\" has a number that is not finite");
  }
  if (model.missing != "error" && model.missing != "mean" && model.missing != "zero") {
    fail(fmt::format("\"missing\" is \"{}\"; expected error, mean or zero", model.missing));
  }
  check_size("\"fill\"", model.fill.size(), features, model.missing != "mean");
  if (!all_finite(model.fill)) fail("\"fill\" has a number that is not finite");
  const TrainingReport& training = model.training;
  if (!std::isfinite(training.objective) || !std::isfinite(training.dual_objective.value_or(0)) ||
      !std::isfinite(training.relative_gap.value_or(0)) || !all_finite(training.objective_history)) {
    fail("\"training\" has a number that is not finite");
  }
}

Json document_of(const Model& model) {
  Json document;
  document["format"] = kFormat;
  document["format_version"] = kModelFormatVersion;
  document["method"] = model.method;
  document["features"] = model.features;
  document["one_hot"] = model.one_hot;
  document["missing"] = model.missing;
  document["fill"] = model.fill;
  document["scaling"] = {
      {"kind", model.scaling.kind}, {"shift", model.scaling.shift}, {"factor", model.scaling.factor}};
  document["tasks"] = Json::array();
  for (const TaskModel& task : model.tasks) {
    document["tasks"].push_back(
        {{"name", task.name},
         {"weights", task.weights},
         {"bias", task.bias},
         {"probability", {{"slope", task.probability.slope}, {"offset", task.probability.offset}}}});
  }
  document["options"] = to_json(model.options);
  document["training"] = to_json(model.training);
  return document;
}

void check_checksum(Json& document) {
  const auto stated = document.find("checksum");
  if (stated == document.end()) fail("has no \"checksum\"");
  const Json found = *stated;
  document.erase("checksum");
  if (const std::string expected = checksum_of(document); found != Json(expected)) {
    fail(fmt::format("the checksum does not match: the file was edited or damaged; expected {}", expected));
  }
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
  try {
    Json document = parse(text);
    const Section top(document, "");
    if (!top.has("format") || top.at("format") != Json(kFormat)) {
      fail(fmt::format("is not a bagwise model: expected \"format\": \"{}\"", kFormat));
    }
    const std::uint64_t version = top.count("format_version");
    if (version > kModelFormatVersion) {
      fail(fmt::format("has format version {}; this bagwise reads up to version {}: use a newer bagwise",
                       version, kModelFormatVersion));
    }
    if (version < 1) fail(fmt::format("has format version {}; expected at least 1", version));
    check_checksum(document);
    Model model = model_from(document);
    check_model(model);
    return model;
  } catch (const Fault& fault) {
    return Error{fault.message, file};
  }
}

Result<void> save_model(const std::string& path, const Model& model) {
  try {
    check_model(model);
    for (const std::string& name : model.features) {
      if (!is_utf8(name)) {
        fail(fmt::format("cannot write this model: the feature name \"{}\" is not UTF-8 text", name));
      }
    }
  } catch (const Fault& fault) {
    return Error{fault.message, path};
  }
  return write_file(path, model_to_json(model));
}

Result<Model> load_model(const std::string& path) {
  auto text = read_file(path, kLargestFile);
  if (!text) return text.error();
  return model_from_json(*text, path);
}

}  // namespace bagwise
