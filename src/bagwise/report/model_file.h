// The model file: one JSON document with a checksum, written whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "bagwise/core/result.h"
#include "bagwise/methods/model.h"

namespace bagwise {

inline constexpr int kModelFormatVersion = 1;

std::string model_to_json(const Model& model);
// `file` is for messages. Errors: truncated, edited (checksum), a newer format version, a key missing or of
// the wrong type, weights that do not match the features, numbers that are not finite.
Result<Model> model_from_json(std::string_view text, const std::string& file);

Result<void> save_model(const std::string& path, const Model& model);
Result<Model> load_model(const std::string& path);

}  // namespace bagwise
