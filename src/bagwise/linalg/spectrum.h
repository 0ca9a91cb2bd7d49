// The spectrum of a symmetric matrix: all eigenvalues and eigenvectors, the largest eigenvalue first.
//
// The one place that has an eigenvalue solver: compiling it takes longer than all that is done around it. Of
// tables too wide for this, principal_axes.h has the leading part.
#pragma once

#include "bagwise/linalg/rows.h"

namespace bagwise {

struct Spectrum {
  Vector values;      // falling
  ColMatrix vectors;  // column i belongs to values[i]
};

// Of the matrix in the lower triangle of `a`, all of it finite.
Spectrum spectrum_of(const ColMatrix& a);

}  // namespace bagwise
