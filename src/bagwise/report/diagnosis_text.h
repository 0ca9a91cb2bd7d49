// A diagnosis for people and for programs: its text and its JSON.
#pragma once

#include <string>

#include "bagwise/report/diagnosis_tables.h"
#include "bagwise/report/training_json.h"

namespace bagwise {

// Findings, then tables; of a model `worst` bags and `top` weights.
struct Shown {
  std::size_t worst = 10, top = 10;
};
std::string diagnosis_text(const Diagnosis& diagnosis, const Shown& shown);
Json diagnosis_json(const Diagnosis& diagnosis);

}  // namespace bagwise
