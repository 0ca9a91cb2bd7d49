// The options that say what the columns of a table are; the same for every command that reads one.
#pragma once

#include <string>
#include <vector>

#include "bagwise/data/read_table.h"
#include "bagwise/methods/model.h"
#include "cli/command.h"

namespace bagwise::cli {

std::vector<Option> column_options();   // --bag-column and its kin
std::vector<Option> feature_options();  // which columns are features, and what their cells mean
Option threads_option();
Option quiet_option();
Option json_option();
Option seed_option();

void append(std::vector<Option>& to, std::vector<Option> more);

// "a,b" as two names; a name with a comma is quoted as in CSV: "\"a,b\",c".
std::vector<std::string> split_names(const std::vector<std::string>& texts);

// The table as the options describe it. Features only where the command has feature_options().
TableOptions table_options(const Arguments& arguments, bool with_features);

// The table as a model needs it for prediction.
TableOptions table_options(const Arguments& arguments, const Model& model);

}  // namespace bagwise::cli
