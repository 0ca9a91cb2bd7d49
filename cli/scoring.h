// What every command that applies a model to a table has in common.
#pragma once

#include <string>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/data/read_table.h"
#include "bagwise/methods/model.h"

namespace bagwise::cli {

// The score of each row of the block. Error: one that is too large to be a number, with the row's number.
Result<std::vector<double>> finite_scores(const Plane& plane, const TableBlock& block, unsigned threads,
                                          const std::string& file);

// A fault of a table that is read for a model. Readers name the option of `train` that would help; here the
// model has decided already, so the hint says what helps now.
Error at_prediction(Error error);

}  // namespace bagwise::cli
