// Where the alternation starts: labels drawn at random, or those that another method's scores give.
#pragma once

#include <span>

#include "bagwise/core/random.h"
#include "bagwise/methods/bag_labels.h"
#include "bagwise/methods/grouped_rows.h"

namespace bagwise::alter_psvm {

// In every bag as many positives, taken at random, as come nearest to its proportion.
Labels random_labels(const GroupedRows& rows, Rng& rng);

// In every bag that many again: the rows of highest score.
Labels labels_by_score(const GroupedRows& rows, std::span<const double> scores);

}  // namespace bagwise::alter_psvm
