#include "cli/method_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/suggest.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

// A fault that begins with an option's name ("C = -1 breaks C > 0") gets it as the user typed it: "--C".
bool names_option(const Method& method, const std::string& message) {
  return std::any_of(method.options.begin(), method.options.end(), [&](const auto& o) {
    return message.starts_with(o.name + ":") || message.starts_with(o.name + " = ");
  });
}

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> out;
  for (const Method& method : methods()) out.push_back(method.name);
  return out;
}

std::string methods_with(const std::string& option) {
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (has_option(method, option)) names.push_back(method.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

bool has_option(const Method& method, const std::string& name) {
  return std::any_of(method.options.begin(), method.options.end(),
                     [&](const auto& o) { return o.name == name; });
}

Error told_by(const Method& method, Error error, const std::string& target) {
  if (names_option(method, error.message)) {
    error.message.insert(0, "--");
  } else if (error.file.empty()) {
    error.file = target;
  }
  return error;
}

Result<OptionTexts> method_options(const Arguments& arguments, const Method& method) {
  OptionTexts out;
  for (const Method& any : methods()) {
    for (const OptionInfo& option : any.options) {
      if (!arguments.has(option.name)) continue;
      if (!has_option(method, option.name)) {
        return Error{fmt::format("--{} is no option of {}; methods that have it: {}", option.name,
                                 method.name, methods_with(option.name))};
      }
      out[option.name] = fmt::format("{}", fmt::join(arguments.texts(option.name), ","));
    }
  }
  if (method.check) {
    const auto target = arguments.texts("target");
    if (auto checked = method.check(out); !checked)
      return told_by(method, checked.error(), target.empty() ? "" : target[0]);
  }
  return out;
}

Result<const Method*> method_called(const std::string& name, const std::vector<std::string>& accepted) {
  const Method* method = find_method(name);
  if (method != nullptr) return method;
  std::vector<std::string> known = method_names();
  known.insert(known.end(), accepted.begin(), accepted.end());
  return Error{
      fmt::format("--method: there is no method \"{}\"; {}", name,
                  suggestion(name, known, fmt::format("expected one of {}", fmt::join(known, ", "))))};
}

bool wants_scaling(const Method& method, const OptionTexts& options) {
  if (const auto given = options.find("scale"); given != options.end()) return given->second != "none";
  const auto info = std::find_if(method.options.begin(), method.options.end(),
                                 [](const auto& o) { return o.name == "scale"; });
  return info != method.options.end() && to_text(info->default_value) != "none";
}

std::vector<Option> common_options() {
  std::vector<Option> out = {seed_option(), threads_option(), quiet_option(), json_option()};
  append(out, feature_options());
  append(out, column_options());
  append(out, options_of_methods());
  return out;
}

std::vector<Option> options_of_methods() {
  std::vector<Option> out;
  for (const Method& method : methods()) {
    for (const OptionInfo& info : method.options) {
      out.push_back({.name = info.name,
                     .value = info.type == "choice" ? info.rule
                              : info.type == "flag" ? "true|false"
                                                    : "X",
                     .help = info.type == "choice" || info.rule.empty()
                                 ? info.help
                                 : fmt::format("{}; {} {}", info.help, info.name, info.rule),
                     .shown = to_text(info.default_value),
                     .group = fmt::format("Options of {} ({})", method.name, method.summary),
                     .repeatable = info.type == "numbers"});
    }
  }
  return out;
}

std::vector<TrainingTask> training_tasks(std::list<LoadedTask>& loaded) {
  std::vector<TrainingTask> out;
  for (LoadedTask& one : loaded) {
    one.task.rows = one.rows ? &*one.rows : nullptr;
    one.task.stream = one.stream.get();
    out.push_back(std::move(one.task));
  }
  return out;
}

}  // namespace bagwise::cli
