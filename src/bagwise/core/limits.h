// What inputs may be at most. docs/guide/limits.md has the same for users, with the limits that follow from
// types.
//
// Each is far above what is of use, and low enough that a file made to hurt is refused before it takes time
// or memory. Memory itself is asked for in memory_budget.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bagwise::limits {

inline constexpr std::uint64_t kMega = std::uint64_t{1} << 20, kGiga = std::uint64_t{1} << 30;

// Tables.
inline constexpr std::size_t kLongestLine = 64 * kMega;         // of text, its line end included
inline constexpr std::int32_t kLargestSvmlightIndex = 1 << 24;  // that is, features of an SVMlight table
inline constexpr std::size_t kMostOneHotValues = 65536;  // of one column: more is an id, not a category

// JSON of any kind. Keys are looked up one by one, and nested values are walked by recursion.
inline constexpr int kDeepestJson = 16;  // a model nests five deep
inline constexpr std::size_t kMostJsonKeys = 200'000, kMostKeysOfObject = 2'000;

// Files that are read whole.
inline constexpr std::uint64_t kLargestModel = kGiga;  // 50 million weights
inline constexpr std::uint64_t kLargestExperiment = 16 * kMega, kLargestGrid = 16 * kMega;
inline constexpr std::uint64_t kLargestJournal = 4 * kGiga;

// Tuning and experiments.
inline constexpr std::size_t kMostSettings = 100'000;  // of a grid, and of all methods of an experiment
inline constexpr std::size_t kLongestSetting = 65536;  // bytes of one option's value in a grid
inline constexpr std::size_t kMostCells = 10'000'000;  // of an experiment

}  // namespace bagwise::limits
