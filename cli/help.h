// The texts of --help.
#pragma once

#include <string>

#include "cli/command.h"

namespace bagwise::cli {

std::string overview();                         // bagwise --help
std::string help_text(const Command& command);  // bagwise COMMAND --help

}  // namespace bagwise::cli
