// Rows written out: sparse ones with their zeros, dense ones as they are.
#pragma once

#include "bagwise/linalg/rows.h"

namespace bagwise {

DenseRows dense_copy(const RowsView& rows);

}  // namespace bagwise
