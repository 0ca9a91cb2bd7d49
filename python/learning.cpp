// Fitting, tuning and diagnosing for Python, without the interpreter's lock.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bagwise/core/timing.h"
#include "bagwise/evaluate/arms.h"
#include "bagwise/evaluate/diagnosis.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/evaluate/tuning.h"
#include "bagwise/methods/recalibrate.h"
#include "bagwise/methods/registry.h"
#include "bagwise/report/diagnosis_text.h"
#include "bagwise/report/grid_file.h"
#include "bagwise/report/training_json.h"
#include "bagwise/report/tuning_json.h"
#include "python/bind.h"
#include "python/choice.h"
#include "python/result.h"
#include "python/tasks.h"
#include "python/watch.h"

namespace bagwise::python {
namespace {

using Tasks = std::vector<std::shared_ptr<Task>>;  // sources in order, the target last

const Method& method_called(const std::string& name) {
  const Method* method = find_method(name);
  if (method == nullptr) throw py::value_error(fmt::format("there is no method \"{}\"", name));
  return *method;
}

py::list methods_list() {
  py::list out;
  for (const Method& method : methods()) {
    py::list options;
    for (const OptionInfo& option : method.options) {
      options.append(py::dict(py::arg("name") = option.name, py::arg("help") = option.help,
                              py::arg("type") = option.type, py::arg("rule") = option.rule,
                              py::arg("choices") = option.choices,
                              py::arg("default") = to_python(to_json(option.default_value))));
    }
    out.append(py::dict(py::arg("name") = method.name, py::arg("summary") = method.summary,
                        py::arg("uses_sources") = method.uses_sources, py::arg("options") = options));
  }
  return out;
}

void check_options(const Method& method, const OptionTexts& options, std::size_t sources) {
  raise_if_bad(method.check(options));
  if (sources > 0) raise_if_bad(method.check_sources(options));
  for (const auto& [name, text] : options) {
    if (sources == 0 && name.ends_with("-source") && text != "auto")
      throw py::value_error(fmt::format("{} is given, but there is no source", name));
  }
}

struct Fitted {
  Fit fit;
  double reduce_seconds = 0;
};

py::object fit(const std::string& name, const OptionTexts& options, const Tasks& tasks, std::uint64_t seed,
               unsigned threads, bool calibrate, bool allow_leak, const py::object& watch) {
  const Method& method = method_called(name);
  check_options(method, options, tasks.size() - 1);
  const Stopwatch total;
  auto found = watched<Fitted>(watch, [=, &method](const Observer& observer) -> Result<Fitted> {
    const bool rows = calibrate || method.needs_instances(options);
    const auto seen = training_tasks(tasks, {.rows = rows, .leaks = allow_leak}, threads);
    if (!seen) return seen.error();
    const double reduced = total.seconds();
    auto out = method.fit(*seen, options, {.seed = seed, .threads = threads, .observer = observer});
    if (!out) return out.error();
    if (calibrate) recalibrate(out->model, *seen, threads);
    return Fitted{std::move(*out), reduced};
  });
  if (!found) raise(found.error());
  Model& model = found->fit.model;
  note_remarks(tasks, model);
  const py::dict seconds(py::arg("reduce") = found->reduce_seconds,
                         py::arg("solve") = found->fit.solve_seconds, py::arg("total") = total.seconds());
  return py::make_tuple(std::make_shared<Model>(std::move(model)), seconds);
}

// A method, the text of a grid file (none: the method's own grid), and the values of options to put over it.
using ArmSpec = std::tuple<std::string, std::optional<std::string>,
                           std::vector<std::pair<std::string, std::vector<std::string>>>>;

std::vector<SettingsPath> grid_of(const Method& method, const std::optional<std::string>& text,
                                  std::size_t sources) {
  if (!text) return method.default_grid(sources);
  const GridFile grid = value_or_raise(grid_from_json(*text, "param_grid"));
  const auto found = grid.by_method.find("");
  if (found == grid.by_method.end()) throw py::value_error("param_grid: expected the values of options");
  return found->second;
}

std::vector<Arm> make_arms(const std::vector<ArmSpec>& specs, std::size_t sources) {
  std::vector<Arm> out;
  for (const auto& [name, grid, values] : specs) {
    const Method& method = method_called(name);
    std::vector<GridAxis> axes;
    for (const auto& [option, texts] : values) axes.push_back({option, texts});
    std::vector<SettingsPath> paths = grid_of(method, grid, sources);
    raise_if_bad(check_size(settings_of(paths).size(), axes));
    if (!axes.empty()) paths = with_axes(paths, axes);
    raise_if_bad(check_grid(method, paths));
    for (Arm& arm : arms_by_metric(method, paths)) out.push_back(std::move(arm));
  }
  if (sources > 0) raise_if_bad(check_sources_used(out));
  return out;
}

py::object tune_tasks(const std::vector<ArmSpec>& specs, const Tasks& tasks, std::uint64_t folds,
                      std::uint64_t repeats, const std::string& criterion,
                      const std::optional<std::string>& combine, const std::string& search, double tau,
                      std::uint64_t seed, unsigned threads, bool allow_leak, const py::object& watch) {
  const std::vector<Arm> arms = make_arms(specs, tasks.size() - 1);
  TuneOptions options{.folds = folds, .repeats = repeats, .tau = tau};
  options.criterion = choice<Criterion>("criterion", criterion);
  options.search = choice<Search>("search", search);
  if (combine) {
    options.combine = choice<Combine>("combine", *combine);
  } else if (has_kernel(arms)) {
    options.combine = Combine::kBest;
  }
  Stopwatch total;
  auto found = watched<Tuned>(watch, [=](const Observer& observer) -> Result<Tuned> {
    const auto seen = training_tasks(tasks, {.rows = true, .leaks = allow_leak}, threads);
    if (!seen) return seen.error();
    return tune(*seen, arms, options, {.seed = seed, .threads = threads, .observer = observer});
  });
  if (!found) raise(found.error());
  note_remarks(tasks, found->fit.model);
  std::vector<std::size_t> grid_order(found->tried.size());
  std::iota(grid_order.begin(), grid_order.end(), std::size_t{0});
  Json report = to_json(*found, arms, grid_order);
  report["best"] = found->best;
  report["seconds"] = {
      {"choose", found->choose_seconds}, {"solve", found->final_seconds}, {"total", total.seconds()}};
  return py::make_tuple(std::make_shared<Model>(std::move(found->fit.model)), to_python(report));
}

py::object diagnose_tasks(const Tasks& tasks, const std::shared_ptr<Model>& model, std::uint64_t folds,
                          std::uint64_t bootstrap, std::uint64_t seed, unsigned threads,
                          const py::object& watch) {
  if (model != nullptr) raise_if_bad(check_tasks_of(*model, tasks.size()));
  auto found = watched<Diagnosis>(watch, [=](const Observer& observer) -> Result<Diagnosis> {
    const auto seen = training_tasks(tasks, {.rows = true, .leaks = true}, threads);
    if (!seen) return seen.error();
    return diagnose(*seen, model.get(),
                    {.seed = seed, .threads = threads, .folds = folds, .draws = bootstrap}, observer);
  });
  if (!found) raise(found.error());
  for (const auto& task : tasks)
    found->remarks.insert(found->remarks.end(), task->remarks.begin(), task->remarks.end());
  return py::make_tuple(to_python(diagnosis_json(*found)), diagnosis_text(*found, {}));
}

// Per bag: the mean probability, the ends of its interval, and the p-value of the known share, also after all
// looks.
py::dict bag_fits(const Task& task, const py::array& probabilities) {
  const auto q = numbers_of<double>(probabilities, 1, "probabilities");
  if (q.size() != task.data.bag_of_row.size()) throw py::value_error("one probability per row");
  std::vector<double> share, low, high, p_value, adjusted;
  for (const BagFit& bag : fit_by_bag(task.data, q, q)) {
    share.push_back(bag.shares.soft);
    low.push_back(bag.interval.low);
    high.push_back(bag.interval.high);
    p_value.push_back(bag.p_value);
    adjusted.push_back(bag.adjusted);
  }
  return py::dict(py::arg("share") = to_array(share), py::arg("low") = to_array(low),
                  py::arg("high") = to_array(high), py::arg("p_value") = to_array(p_value),
                  py::arg("adjusted") = to_array(adjusted));
}

}  // namespace

void bind_learning(py::module_& module) {
  module.def("methods", &methods_list);
  module.def(
      "check_options",
      [](const std::string& method, const OptionTexts& options, std::size_t sources) {
        check_options(method_called(method), options, sources);
      },
      py::arg("method"), py::arg("options"), py::arg("sources"));
  module.def("fit", &fit, py::arg("method"), py::arg("options"), py::arg("tasks"), py::kw_only(),
             py::arg("seed"), py::arg("threads"), py::arg("calibrate"), py::arg("allow_leak"),
             py::arg("watch"));
  module.def("tune", &tune_tasks, py::arg("arms"), py::arg("tasks"), py::kw_only(), py::arg("folds"),
             py::arg("repeats"), py::arg("criterion"), py::arg("combine"), py::arg("search"), py::arg("tau"),
             py::arg("seed"), py::arg("threads"), py::arg("allow_leak"), py::arg("watch"));
  module.def("diagnose", &diagnose_tasks, py::arg("tasks"), py::arg("model"), py::kw_only(), py::arg("folds"),
             py::arg("bootstrap"), py::arg("seed"), py::arg("threads"), py::arg("watch"));
  module.def("fit_by_bag", &bag_fits, py::arg("task"), py::arg("probabilities"));
}

}  // namespace bagwise::python
