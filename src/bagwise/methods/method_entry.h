// The registry's entry of a method, made of its options struct and three functions.
//
// Every method has the option metric besides its own: what it means is done here, around the method's fit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/metric.h"
#include "bagwise/methods/number_range.h"
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
  Result<void> (*check)(const Options&) = nullptr;      // how options go together; null: any way
  RowsNeeded (*rows_needed)(const Options&) = nullptr;  // null: none
  std::vector<SettingsPath> (*default_grid)(std::size_t sources) = nullptr;  // null: the defaults alone
  // Of a method with sources: that these options go with them; null: any do.
  Result<void> (*check_sources)(const Options&) = nullptr;
  bool (*learns_alone)(const Options&) = nullptr;  // null: a method with sources never does
  // What fits on a path have where a setting does not say otherwise; null: nothing.
  OptionTexts (*on_path)(std::size_t sources) = nullptr;
};

// A method's own options and those all have.
template <class Options>
struct EntryOptions {
  Options own;
  MetricOptions common;
};

template <class Options>
Result<EntryOptions<Options>> parse_entry_options(const OptionTexts& texts) {
  OptionTexts own = texts, common;
  for (const OptionInfo& option : list_options<MetricOptions>()) {
    if (auto found = own.extract(option.name)) common.insert(std::move(found));
  }
  auto parsed = parse_options<Options>(own);
  if (!parsed) return parsed.error();
  auto metric = parse_options<MetricOptions>(common);
  if (!metric) return metric.error();
  return EntryOptions<Options>{std::move(*parsed), *metric};
}

// A method that learns from the target alone is never given more than one task.
template <class Options>
Method make_method(const MethodParts<Options>& parts) {
  Method out;
  out.name = parts.name;
  out.summary = parts.summary;
  out.uses_sources = parts.uses_sources;
  out.options = list_options<Options>();
  for (OptionInfo& option : list_options<MetricOptions>()) out.options.push_back(std::move(option));
  const auto needs_rows = [parts](const Options& options) {
    return parts.rows_needed != nullptr ? parts.rows_needed(options) : RowsNeeded::kNone;
  };
  out.check = [parts](const OptionTexts& texts) -> Result<void> {
    const auto options = parse_entry_options<Options>(texts);
    if (!options) return options.error();
    if (options->common.metric != MetricKind::kNone) {
      if (auto checked = check_metric_options(option_values(options->own)); !checked) return checked;
    }
    return parts.check != nullptr ? parts.check(options->own) : Result<void>();
  };
  out.rows_needed = [needs_rows](const OptionTexts& texts) {
    const auto options = parse_entry_options<Options>(texts);
    if (!options) return RowsNeeded::kNone;
    return options->common.metric != MetricKind::kNone ? RowsNeeded::kAll : needs_rows(options->own);
  };
  out.check_sources = [parts](const OptionTexts& texts) -> Result<void> {
    if (!parts.uses_sources) return Error{parts.name + " learns from the target alone and takes no source"};
    const auto options = parse_entry_options<Options>(texts);
    if (!options) return options.error();
    return parts.check_sources != nullptr ? parts.check_sources(options->own) : Result<void>();
  };
  out.fit = [parts, needs_rows, check = out.check, check_sources = out.check_sources](
                std::span<const TrainingTask> tasks, const OptionTexts& texts,
                const Context& context) -> Result<Fit> {
    if (auto checked = check(texts); !checked) return checked.error();
    if (tasks.size() != 1) {
      if (auto checked = check_sources(texts); !checked) return checked.error();
    }
    const EntryOptions<Options> options = *parse_entry_options<Options>(texts);
    if (auto checked = check_sums(tasks, spread_over(context)); !checked) return checked.error();
    if (auto checked = check_gamma(tasks, option_values(options.own)); !checked) return checked.error();
    const auto own_fit = [&](std::span<const TrainingTask> seen, const Context& inside) {
      return parts.fit(seen, options.own, inside);
    };
    auto fit = options.common.metric == MetricKind::kNone
                   ? own_fit(tasks, context)
                   : fit_in_metric(tasks, context, needs_rows(options.own) != RowsNeeded::kNone, own_fit);
    if (fit) {
      if (auto checked = check_finite(fit->model); !checked) fit = checked.error();
    }
    if (!fit) {
      return with_cause(fit.error(), tasks, option_values(options.own),
                        spread_over(context) != nullptr ? BagsSeen::kSome : BagsSeen::kAll);
    }
    for (auto& value : option_values(options.common)) fit->model.options.push_back(std::move(value));
    return fit;
  };
  out.fit_path = [parts, fit = out.fit, check_sources = out.check_sources](
                     std::span<const TrainingTask> tasks, std::span<const OptionTexts> path,
                     const Context& context) -> Result<std::vector<Fit>> {
    const OptionTexts rough = parts.on_path != nullptr ? parts.on_path(tasks.size() - 1) : OptionTexts();
    PathState state;
    Context along = context;
    along.path = &state;
    std::vector<Fit> fits;
    for (OptionTexts setting : path) {
      setting.insert(rough.begin(), rough.end());
      // Settings that go without sources may stand beside others that use them.
      const bool alone = parts.uses_sources && !check_sources(setting);
      auto fitted = fit(alone ? tasks.last(1) : tasks, setting, along);
      if (!fitted) return fitted.error();
      fits.push_back(std::move(*fitted));
    }
    return fits;
  };
  out.learns_alone = [parts](const OptionTexts& texts) {
    const auto options = parse_entry_options<Options>(texts);
    return !parts.uses_sources ||
           (options && parts.learns_alone != nullptr && parts.learns_alone(options->own));
  };
  out.default_grid = [parts](std::size_t sources) {
    return parts.default_grid != nullptr ? parts.default_grid(sources) : std::vector<SettingsPath>{{{}}};
  };
  return out;
}

}  // namespace bagwise
