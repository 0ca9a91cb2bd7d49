// The compiled half of the Python package: bagwise/_core.pyi says what it has.
#include <pybind11/pybind11.h>

#include "bagwise/core/memory_budget.h"
#include "bagwise/core/version.h"
#include "python/bind.h"
#include "python/result.h"

PYBIND11_MODULE(_core, module) {
  module.attr("__version__") = bagwise::kVersion;
  bagwise::python::raise_if_bad(bagwise::limit_memory_by_environment());
  bagwise::python::bind_rows(module);
  bagwise::python::bind_tasks(module);
  bagwise::python::bind_models(module);
  bagwise::python::bind_learning(module);
  bagwise::python::bind_datasets(module);
}
