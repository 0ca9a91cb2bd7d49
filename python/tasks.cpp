#include "python/tasks.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

#include "bagwise/bags/leak_guard.h"
#include "bagwise/bags/same_features.h"
#include "python/bind.h"
#include "python/result.h"

namespace bagwise::python {
namespace {

std::vector<std::uint32_t> checked_codes(const py::array& codes, std::size_t rows, std::size_t bags,
                                         const std::string& what) {
  const auto numbers = numbers_of<std::uint32_t>(codes, 1, "codes");
  if (numbers.size() != rows) {
    raise(
        {fmt::format("has {} rows, but there are bags of {}; expected one bag per row", rows, numbers.size()),
         what});
  }
  for (const std::uint32_t code : numbers) {
    if (code >= bags) throw py::index_error(fmt::format("there is no bag {}", code));
  }
  return {numbers.begin(), numbers.end()};
}

std::vector<double> checked_bounds(const py::object& bounds, std::size_t rows, const std::string& what) {
  if (bounds.is_none()) return {};
  const auto numbers = numbers_of<double>(py::cast<py::array>(bounds), 1, "delta");
  if (numbers.size() != rows) {
    raise({fmt::format("has {} rows, but there are {} values of delta; expected one per row", rows,
                       numbers.size()),
           what});
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i]) && numbers[i] >= 0) continue;
    raise({fmt::format("row {} is {}; expected a finite number >= 0", i + 1, numbers[i]), what, 0, "delta"});
  }
  return {numbers.begin(), numbers.end()};
}

// A sum of finite numbers is finite unless they are huge: a look at the sums saves one at every value.
bool has_finite_sums(const BagSums& sums) {
  for (std::size_t k = 0; k < sums.bags(); ++k) {
    for (std::size_t j = 0; j < sums.features(); ++j) {
      if (!std::isfinite(sums.sum(k, j))) return false;
    }
  }
  return true;
}

// Codes and distinct values in order of first appearance. Bags are mostly numbered from somewhere on without
// large gaps: then a plain table finds them.
template <class Find>
std::pair<std::vector<std::uint32_t>, std::vector<std::int64_t>> number_by(std::span<const std::int64_t> bags,
                                                                           const Find& place_of) {
  constexpr auto kUnseen = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> codes(bags.size());
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < bags.size(); ++i) {
    std::uint32_t& code = place_of(bags[i]);
    if (code == kUnseen) {
      code = static_cast<std::uint32_t>(values.size());
      values.push_back(bags[i]);
    }
    codes[i] = code;
  }
  return {std::move(codes), std::move(values)};
}

std::pair<std::vector<std::uint32_t>, std::vector<std::int64_t>> number(std::span<const std::int64_t> bags) {
  constexpr auto kUnseen = std::numeric_limits<std::uint32_t>::max();
  if (bags.empty()) return {};
  const auto [least, largest] = std::minmax_element(bags.begin(), bags.end());
  const auto range = static_cast<std::uint64_t>(*largest) - static_cast<std::uint64_t>(*least);
  if (range < 4 * bags.size() + 1024) {
    std::vector<std::uint32_t> table(range + 1, kUnseen);
    const auto from = static_cast<std::uint64_t>(*least);
    return number_by(bags, [&](std::int64_t bag) -> std::uint32_t& {
      return table[static_cast<std::uint64_t>(bag) - from];
    });
  }
  std::unordered_map<std::int64_t, std::uint32_t> table;
  return number_by(bags, [&](std::int64_t bag) -> std::uint32_t& {
    return table.try_emplace(bag, kUnseen).first->second;
  });
}

}  // namespace

Task::Task(std::string task_name, const Rows& rows, const py::array& codes, std::vector<std::string> bags,
           const ProportionTable& proportions, const py::object& bounds, std::string called)
    : name(std::move(task_name)), what(std::move(called)), remarks(proportions.remarks) {
  Dataset instances;
  instances.groups.codes = checked_codes(codes, rows.features.rows(), bags.size(), what);
  instances.groups.values = std::move(bags);
  instances.bounds = checked_bounds(bounds, rows.features.rows(), what);
  instances.features = rows.features;
  instances.feature_names = rows.names;
  data = value_or_raise(attach_proportions(std::move(instances), what, &proportions));
}

Result<std::vector<TrainingTask>> training_tasks(const std::vector<std::shared_ptr<Task>>& tasks,
                                                 const Wanted& wanted, unsigned threads) {
  std::vector<TrainingTask> out;
  for (const auto& task : tasks) {
    TrainingTask& seen = out.emplace_back();
    seen.name = task->name;
    seen.origin = task->what;
    seen.reduced = reduce(task->data, threads);
    seen.rows = wanted.rows ? &task->data : nullptr;
    if (!has_finite_sums(seen.reduced.sums)) {
      if (auto checked = check_finite(task->data.features, task->data.feature_names, task->what, threads);
          !checked)
        return checked.error();
    }
    if (wanted.leaks) continue;
    const auto ways_out = [](const std::string&) { return "leave it out or keep it with allow_leak=True"; };
    if (auto checked = check_leaks(seen.reduced, task->what, ways_out); !checked) return checked.error();
  }
  return out;
}

void note_remarks(const std::vector<std::shared_ptr<Task>>& tasks, Model& model) {
  std::vector<std::string> all;
  for (const auto& task : tasks) all.insert(all.end(), task->remarks.begin(), task->remarks.end());
  auto& warnings = model.training.warnings;
  warnings.insert(warnings.begin(), all.begin(), all.end());
}

void bind_tasks(py::module_& module) {
  module.def(
      "number_integers",
      [](const py::array& bags) {
        const auto [codes, values] = number(numbers_of<std::int64_t>(bags, 1, "bags"));
        return py::make_tuple(to_array(codes), to_array(values));
      },
      py::arg("bags"));
  module.def(
      "check_same_features",
      [](const std::vector<std::string>& target, const std::vector<std::string>& source,
         const std::string& what) {
        raise_if_bad(
            check_same_features({target, "X"}, {source, what},
                                {.lacking = "align_features=True takes it as 0 there",
                                 .extra = "leave it out, or align_features=True takes it as 0 there"}));
      },
      py::arg("target"), py::arg("source"), py::arg("what"));
  py::class_<ProportionTable>(module, "Proportions")
      .def(py::init([](const std::string& what, const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& records) {
             return value_or_raise(make_proportions(what, header, records));
           }),
           py::arg("what"), py::arg("header"), py::arg("records"))
      .def_static(
          "of_shares",
          [](const std::string& what, const std::vector<std::string>& bags, const py::array& shares) {
            const auto numbers = numbers_of<double>(shares, 1, "shares");
            if (numbers.size() != bags.size()) throw py::value_error("one share for each bag");
            return value_or_raise(make_proportions(what, bags, numbers));
          },
          py::arg("what"), py::arg("bags"), py::arg("shares"))
      .def_readonly("remarks", &ProportionTable::remarks);
  py::class_<Task, std::shared_ptr<Task>>(module, "Task")
      .def(py::init<std::string, const Rows&, const py::array&, std::vector<std::string>,
                    const ProportionTable&, const py::object&, std::string>(),
           py::arg("name"), py::arg("rows"), py::arg("codes"), py::arg("bags"), py::arg("proportions"),
           py::arg("bounds") = py::none(), py::arg("what") = "X")
      .def_property_readonly("bag_names", [](const Task& task) { return task.data.bags.names; })
      .def_property_readonly("bag_of_row", [](const Task& task) { return to_array(task.data.bag_of_row); })
      .def_property_readonly("bag_sizes",
                             [](const Task& task) {
                               std::vector<std::int64_t> sizes(task.data.bags.size(), 0);
                               for (const std::uint32_t bag : task.data.bag_of_row) ++sizes[bag];
                               return to_array(sizes);
                             })
      .def_property_readonly("proportions",
                             [](const Task& task) { return to_array(task.data.bags.proportions); });
}

}  // namespace bagwise::python
