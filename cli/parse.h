// From the words of a command line to checked arguments.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace bagwise::cli {

// The words after the command's name; no value: its help was asked for. Errors are one line: an unknown
// option with a suggestion, a value missing or wrong, a required option missing, an option given twice.
Result<std::optional<Arguments>> parse(const Command& command, const std::vector<std::string>& words);

}  // namespace bagwise::cli
