// The registry's entry of a method, made of its options struct and three functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/path_state.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// A method as its own folder states it, in its own options.
template <class Options>
struct MethodParts {
  std::string name;
  std::string summary;
  bool uses_sources = false;
  Result<Fit> (*fit)(std::span<const TrainingTask>, const Options&, const Context&) = nullptr;
  Result<void> (*check)(const Options&) = nullptr;    // how options go together; null: any way
  bool (*needs_instances)(const Options&) = nullptr;  // null: never
  std::vector<SettingsPath> (*default_grid)(std::size_t sources) = nullptr;  // null: the defaults alone
  OptionTexts on_path = {};  // what fits on a path have where a setting does not say otherwise
};

// A method that learns from the target alone is never given more than one task.
template <class Options>
Method make_method(const MethodParts<Options>& parts) {
  Method out;
  out.name = parts.name;
  out.summary = parts.summary;
  out.uses_sources = parts.uses_sources;
  out.options = list_options<Options>();
  out.check = [parts](const OptionTexts& texts) -> Result<void> {
    auto options = parse_options<Options>(texts);
    if (!options) return options.error();
    return parts.check != nullptr ? parts.check(*options) : Result<void>();
  };
  out.needs_instances = [parts](const OptionTexts& texts) {
    const auto options = parse_options<Options>(texts);
    return options && parts.needs_instances != nullptr && parts.needs_instances(*options);
  };
  out.fit = [parts, check = out.check](std::span<const TrainingTask> tasks, const OptionTexts& texts,
                                       const Context& context) -> Result<Fit> {
    if (!parts.uses_sources && tasks.size() != 1)
      return Error{parts.name + " learns from the target alone and takes no source"};
    if (auto checked = check(texts); !checked) return checked.error();
    return parts.fit(tasks, *parse_options<Options>(texts), context);
  };
  out.fit_path = [fit = out.fit, rough = parts.on_path](std::span<const TrainingTask> tasks,
                                                        std::span<const OptionTexts> path,
                                                        const Context& context) -> Result<std::vector<Fit>> {
    PathState state;
    Context along = context;
    along.path = &state;
    std::vector<Fit> fits;
    for (OptionTexts setting : path) {
      setting.insert(rough.begin(), rough.end());
      auto fitted = fit(tasks, setting, along);
      if (!fitted) return fitted.error();
      fits.push_back(std::move(*fitted));
    }
    return fits;
  };
  out.default_grid = [parts](std::size_t sources) {
    return parts.default_grid != nullptr ? parts.default_grid(sources) : std::vector<SettingsPath>{{{}}};
  };
  return out;
}

}  // namespace bagwise
