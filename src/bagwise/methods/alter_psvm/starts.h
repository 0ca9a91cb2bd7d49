// Where the alternation starts: labels drawn at random, or those of InvCal.
#pragma once

#include "bagwise/core/random.h"
#include "bagwise/methods/bag_labels.h"
#include "bagwise/methods/grouped_rows.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/registry.h"

namespace bagwise::alter_psvm {

// In every bag as many positives, taken at random, as come nearest to its proportion.
Labels random_labels(const GroupedRows& rows, Rng& rng);

// In every bag that many again: the rows that InvCal scores highest.
Result<Labels> inv_cal_labels(const GroupedRows& rows, const InvCalOptions& options, const Context& context);

}  // namespace bagwise::alter_psvm
