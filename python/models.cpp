// Models for Python: what they hold, what they say of rows, their file.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <utility>

#include "bagwise/methods/scorer.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/training_json.h"
#include "python/bind.h"
#include "python/result.h"
#include "python/rows.h"
#include "python/watch.h"

namespace bagwise::python {
namespace {

std::size_t checked_task(const Model& model, std::size_t task) {
  if (task >= model.tasks.size()) throw py::index_error(fmt::format("there is no task {}", task));
  return task;
}

py::object plane(const Model& model, std::size_t task) {
  if (model.expansion)
    throw py::value_error("a model with a kernel has no plane: there is no weight per feature");
  const Plane found = raw_plane(model, checked_task(model, task));
  return py::make_tuple(py::array_t<double>(found.weights.size(), found.weights.data()), found.bias);
}

py::array scores(const std::shared_ptr<Model>& model, const Rows& rows, std::size_t task, unsigned threads) {
  if (rows.features.columns() != model->features.size()) {
    raise({fmt::format("X has {} features, the model has {}; expected the same", rows.features.columns(),
                       model->features.size())});
  }
  checked_task(*model, task);
  return to_array(value_or_raise(watched<std::vector<double>>(
      py::none(), [model, features = rows.features, task, threads](const Observer&) {
        return finite_scores(Scorer(*model, task), features.view(), threads);
      })));
}

py::array probabilities(const Model& model, const py::array& scores, std::size_t task) {
  const auto given = numbers_of<double>(scores, 1, "scores");
  const Probability& sigmoid = model.tasks[checked_task(model, task)].probability;
  py::array_t<double> out({given.size(), std::size_t{2}});
  auto to = out.mutable_unchecked<2>();
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto row = static_cast<py::ssize_t>(i);
    to(row, 0) = sigmoid.of_negative(given[i]);
    to(row, 1) = sigmoid.of(given[i]);
  }
  return out;
}

py::object report(const Model& model) {
  Json out = Json::object();
  out["method"] = model.method;
  if (model.selection) out["selection"] = to_json(*model.selection);
  out.update(to_json(model.training));
  out["options"] = to_json(model.options);
  return to_python(out);
}

std::vector<std::string> task_names(const Model& model) {
  std::vector<std::string> out;
  for (const TaskModel& task : model.tasks) out.push_back(task.name);
  return out;
}

}  // namespace

void bind_models(py::module_& module) {
  py::class_<Model, std::shared_ptr<Model>>(module, "Model")
      .def_readonly("method", &Model::method)
      .def_readonly("features", &Model::features)
      .def_property_readonly("tasks", &task_names)
      .def_property_readonly("options", [](const Model& model) { return to_python(to_json(model.options)); })
      .def_property_readonly("linear", [](const Model& model) { return !model.expansion.has_value(); })
      .def_property_readonly("average", [](const Model& model) { return model.committee.has_value(); })
      .def_property_readonly("termination", [](const Model& model) { return model.training.termination; })
      .def_property_readonly("warnings", [](const Model& model) { return model.training.warnings; })
      .def("plane", &plane, py::arg("task"))
      .def("shared_weights",
           [](const Model& model) -> py::object {
             if (model.shared_weights.empty() || model.expansion) return py::none();
             const Plane shared = raw_plane(model.scaling, model.shared_weights, 0);
             return py::array_t<double>(shared.weights.size(), shared.weights.data());
           })
      .def("scores", &scores, py::arg("rows"), py::arg("task"), py::arg("threads") = 0)
      .def("probabilities", &probabilities, py::arg("scores"), py::arg("task"))
      .def(
          "find_task",
          [](const Model& model, const std::string& name) { return value_or_raise(model.find_task(name)); },
          py::arg("name"))
      .def("report", &report)
      .def("text", &model_to_json)
      .def_static(
          "from_text",
          [](const std::string& text, const std::string& what) {
            return value_or_raise(model_from_json(text, what));
          },
          py::arg("text"), py::arg("what"))
      .def(
          "save", [](const Model& model, const std::string& path) { raise_if_bad(save_model(path, model)); },
          py::arg("path"))
      .def_static(
          "load", [](const std::string& path) { return value_or_raise(load_model(path)); }, py::arg("path"))
      // Pickled as a call with the file's text, which any protocol knows.
      .def(py::init([](const std::string& text) {
             return value_or_raise(model_from_json(text, "a pickled model"));
           }),
           py::arg("text"))
      .def("__reduce__", [](const py::object& self) {
        return py::make_tuple(py::type::of(self), py::make_tuple(self.attr("text")()));
      });
}

}  // namespace bagwise::python
