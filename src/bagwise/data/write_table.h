// Writing instance tables as CSV or SVMlight (by the name's ending; .gz and .zst compress), whole or not at
// all.
//
// Reading them is in read_table.h.
#pragma once

#include <string>
#include <string_view>

#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"

namespace bagwise {

class FileGroup;

// CSV: columns in this order: id (if any), bag (if any), proportion (if any), label (0/1, empty where a row
// has none; if any), delta (if any), then the features. Two columns of one name are an error.
// SVMlight (.svm, .libsvm): label (1, -1, 0 where there is none), qid:BAG, index:value where the value is not
// 0. The index is the feature's name if all names are whole numbers in ascending order, else its place
// from 1. Bags must be whole numbers, and there is no place for id, proportion and delta: these are errors.
// Numbers are written in the shortest form that reads back to the same bits; one that is not finite is an
// error. Files of a group appear together.
Result<void> write_table(const std::string& path, const Dataset& table, FileGroup* group = nullptr);

// One CSV cell, quoted if it must be.
std::string csv_cell(std::string_view text);

}  // namespace bagwise
