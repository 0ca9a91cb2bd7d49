// The rows a kernel model compares with, as a part of the model file.
#pragma once

#include "bagwise/methods/model.h"
#include "bagwise/report/internal/json_section.h"

namespace bagwise {

// {kernel, gamma, degree, rows, columns, values}, with start and index where the rows are sparse.
Json expansion_json(const Expansion& expansion);

// What is wrong goes to the section's fault: sizes, columns out of range or not ascending.
Expansion expansion_from(const Section& from);

// What prediction relies on: gamma > 0, degree >= 1, a column per feature, finite values.
void check_expansion(const Expansion& expansion, std::size_t features, FirstFault& fault);

}  // namespace bagwise
