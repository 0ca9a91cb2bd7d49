// The options of methods, and of the data they learn from, on the command line: for every command that
// trains.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "bagwise/methods/registry.h"
#include "cli/command.h"
#include "cli/load_tasks.h"

namespace bagwise::cli {

// The options of every method, each method's under its own heading.
std::vector<Option> options_of_methods();

// What ends the list of every command that trains: those of any command, of tables, and of the methods.
std::vector<Option> common_options();

std::vector<std::string> method_names();
bool has_option(const Method& method, const std::string& name);
// The names of the methods that have it, for messages.
std::string methods_with(const std::string& option);

// The method of that name; the error suggests one, and names also what else is `accepted`.
Result<const Method*> method_called(const std::string& name, const std::vector<std::string>& accepted = {});

// The options given for the method, as text. Errors: an option of another method, which says whose it is, and
// faults of the options alone.
Result<OptionTexts> method_options(const Arguments& arguments, const Method& method);

// A fault found by the method itself, which knows no files: it is about an option or about the target.
Error told_by(const Method& method, Error error, const std::string& target);

// Whether the moments of the features are wanted, as scaling does.
bool wants_scaling(const Method& method, const OptionTexts& options);

// The tasks as methods see them; rows stay where they are.
std::vector<TrainingTask> training_tasks(std::list<LoadedTask>& loaded);

}  // namespace bagwise::cli
