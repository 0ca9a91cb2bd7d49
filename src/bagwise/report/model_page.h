// The page of a trained model: what it is, its weights, how its bags were met, and what a diagnosis says of
// it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bagwise/methods/model.h"
#include "bagwise/report/diagnosis_tables.h"

namespace bagwise {

struct ModelPageOptions {
  std::string file = {};   // the model's, for the reader
  std::size_t top = 20;    // weights shown of each task, the largest
  std::size_t worst = 10;  // bags shown, those that fit worst
};

// A whole page of HTML. Without a diagnosis it says what the model file alone can tell.
std::string model_page(const Model& model, const std::optional<Diagnosis>& diagnosis,
                       const ModelPageOptions& options = {});

}  // namespace bagwise
