// Feature scaling, fitted on the training rows of all tasks and kept in the model.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/bags/bag_sums.h"
#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/result.h"
#include "bagwise/methods/model.h"

namespace bagwise {

enum class Scale { kNone, kStandard, kMaxabs };
inline std::vector<std::pair<std::string_view, Scale>> names(Scale) {
  return {{"none", Scale::kNone}, {"standard", Scale::kStandard}, {"maxabs", Scale::kMaxabs}};
}

// standard: mean 0 and standard deviation 1 over the rows; maxabs: largest absolute value 1.
// A constant feature keeps its unit. An error names a feature too large to be squared, or too small.
// One `fitted` elsewhere is taken as it is.
Result<Scaling> fit_scaling(Scale scale, const FeatureMoments& moments, std::span<const std::string> names,
                            const Scaling* fitted = nullptr);

// (row - shift) * factor for every row: means of scaled rows are scaled means of rows.
void apply(const Scaling& scaling, DenseRows& rows);

// Rows [from, from + count) as the weights see them. Sparse rows stay sparse unless a shift fills them up.
Features scaled_rows(const Scaling& scaling, const RowsView& rows, std::size_t from, std::size_t count);

}  // namespace bagwise
