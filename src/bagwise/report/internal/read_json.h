// JSON of unknown origin as a document: the one door through which models, experiments, grids and journals
// come in.
//
// Nothing in it runs and nothing throws. Checked before a parser sees the text: how deep it nests, how many
// keys it has, and that the memory for its values is there (at most 32 bytes per byte of text). Checked while
// it is parsed: that it is JSON in UTF-8, that no object has a key twice, that every number is finite.
#pragma once

#include <string>
#include <string_view>

#include "bagwise/core/result.h"
#include "bagwise/report/training_json.h"

namespace bagwise {

// Errors say at which line and character the text stops to be JSON, and what was `expected`.
Result<Json> parse_json(std::string_view text, const std::string& file, std::string_view expected);

// A value for a message: as it stands if it is short, else what kind it is.
std::string shown(const Json& value);
inline const char* kind_of(const Json& value) { return value.type_name(); }

}  // namespace bagwise
