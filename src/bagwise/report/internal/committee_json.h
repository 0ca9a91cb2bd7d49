// The committee of a model and how its options were chosen, as parts of the model file.
#pragma once

#include "bagwise/report/internal/json_section.h"

namespace bagwise {

Json committee_json(const Committee& committee);
Committee committee_from(const Section& from);
// What prediction relies on.
void check_committee(const Committee& committee, std::size_t tasks, std::size_t features, FirstFault& fault);

Selection selection_from(const Section& from);

}  // namespace bagwise
