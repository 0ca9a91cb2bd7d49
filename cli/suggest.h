// "Did you mean": the known word nearest to one that was mistyped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bagwise::cli {

// Letters to insert, delete, replace or swap with a neighbour to make `b` of `a`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// "did you mean X?" where a known word is near enough, else `otherwise`.
std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& otherwise);

}  // namespace bagwise::cli
