// The parts of the compiled module, each of which adds its own to it.
#pragma once

#include <pybind11/pybind11.h>

namespace bagwise::python {

namespace py = pybind11;

void bind_rows(py::module_& module);
void bind_tasks(py::module_& module);
void bind_models(py::module_& module);
void bind_learning(py::module_& module);
void bind_datasets(py::module_& module);

}  // namespace bagwise::python
