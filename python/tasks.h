// Tasks as Python states them: rows, the bag of each, and what is known of each bag.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/proportions.h"
#include "bagwise/methods/registry.h"
#include "python/rows.h"

namespace bagwise::python {

namespace py = pybind11;

struct Task {
  std::string name;  // "target", "source", "source-2", ...
  std::string what;  // what messages call the instances
  BaggedData data;
  std::vector<std::string> remarks;  // on the proportions

  Task(std::string task_name, const Rows& rows, const py::array& codes, std::vector<std::string> bags,
       const ProportionTable& proportions, const py::object& bounds, std::string called);
};

// What of the tasks a method may see. Rows are given where `with_rows` asks for them; the tasks must outlive
// it. Errors: a value that is not finite, and a leak unless it is allowed.
struct Wanted {
  bool rows = false, leaks = false;
};
Result<std::vector<TrainingTask>> training_tasks(const std::vector<std::shared_ptr<Task>>& tasks,
                                                 const Wanted& wanted, unsigned threads);

// What reading the proportions had to say, before the warnings of the fit.
void note_remarks(const std::vector<std::shared_ptr<Task>>& tasks, Model& model);

}  // namespace bagwise::python
