// bagwise methods: the methods, their options, ranges and defaults.
#include <fmt/format.h>

#include "bagwise/methods/registry.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

std::string methods_json() {
  Json out = Json::object();
  out["methods"] = Json::array();
  for (const Method& method : methods()) {
    Json options = Json::array();
    for (const OptionInfo& option : method.options) {
      Json entry = {{"name", option.name}, {"type", option.type}, {"range", option.rule}};
      if (!option.choices.empty()) entry["choices"] = option.choices;
      entry["default"] = to_json(option.default_value);
      entry["help"] = option.help;
      options.push_back(std::move(entry));
    }
    out["methods"].push_back({{"name", method.name},
                              {"summary", method.summary},
                              {"uses_sources", method.uses_sources},
                              {"needs_instances", method.needs_instances({})},
                              {"options", std::move(options)}});
  }
  return to_text(out, 2) + "\n";
}

std::string methods_text() {
  std::string out;
  for (const Method& method : methods()) {
    out += fmt::format("{}{}: {}\n", out.empty() ? "" : "\n", method.name, method.summary);
    out += fmt::format("  sources: {}; works on {}\n\n", method.uses_sources ? "yes" : "no",
                       method.needs_instances({}) ? "single rows" : "sums per bag, any number of rows");
    TextTable table({"option", "range", "default", "meaning"});
    for (const OptionInfo& option : method.options) {
      table.add({"--" + option.name, option.rule, to_text(option.default_value), option.help});
    }
    out += table.text(2);
  }
  return out;
}

Result<int> run_methods(const Arguments& arguments) {
  print(arguments.flag("json") ? methods_json() : methods_text());
  return 0;
}

}  // namespace

Command methods_command() {
  return {"methods",  "list the methods, their options, ranges and defaults", "[--json]", "", {json_option()},
          run_methods};
}

}  // namespace bagwise::cli
