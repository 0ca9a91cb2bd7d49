// The compiled half of the Python package: bagwise/_core.pyi says what it has.
#include <pybind11/pybind11.h>

#include "bagwise/core/version.h"

PYBIND11_MODULE(_core, module) { module.attr("__version__") = bagwise::kVersion; }
