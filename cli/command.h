// What a command of the command line is: its options as data, and the function that runs it.
//
// One description feeds the parser (parse.h), the help (help.h) and the suggestions (suggest.h). Nothing here
// knows the library that parses.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bagwise/comm/communicator.h"
#include "bagwise/core/result.h"

namespace bagwise::cli {

enum class Kind { kText, kFlag, kWhole, kNumber, kChoice };

struct Option {
  std::string name = {};          // "target" stands for --target
  std::string value = {};         // how help calls its value: "FILE"
  std::string help = {};          // what it means
  std::string fallback = {};      // the value where none is given; also what help shows
  std::string shown = {};         // what help shows as default where that is not the fallback
  std::string group = "Options";  // its heading in help
  Kind kind = Kind::kText;
  char letter = 0;  // 'o' stands for -o
  bool required = false;
  bool repeatable = false;
  bool positional = false;                // given without its name
  double least = 0, most = 1e300;         // of a number, both included
  std::vector<std::string> choices = {};  // of a choice
};

// The options as given, each checked against its kind.
class Arguments {
 public:
  Arguments(const std::vector<Option>& options, std::map<std::string, std::vector<std::string>> given);

  [[nodiscard]] bool has(const std::string& name) const { return given_.contains(name); }
  [[nodiscard]] bool flag(const std::string& name) const { return has(name); }
  [[nodiscard]] std::string text(const std::string& name) const;  // the fallback if it was not given
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
  [[nodiscard]] std::uint64_t whole(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;

  // The ranks that run this command together, each with these arguments; null: this process is alone.
  [[nodiscard]] Communicator* comm() const { return comm_; }
  void run_over(Communicator& comm) { comm_ = &comm; }
  // Sets an option where it was not given, or was given as `instead_of`.
  void settle(const std::string& name, const std::string& instead_of, const std::string& value);

 private:
  Communicator* comm_ = nullptr;
  std::map<std::string, std::vector<std::string>> given_;
  std::map<std::string, std::string> fallbacks_;
};

// Whether `text` is a value this option may have; the error says what was found and what was expected.
Result<void> check_value(const Option& option, const std::string& text);

struct Command {
  std::string name;
  std::string summary;  // one line
  std::string usage;    // after "bagwise NAME"
  std::string details;  // paragraphs of its help, wrapped by hand at 100 columns
  std::vector<Option> options;
  // The exit status (0 done, 1 not reached what was asked), or what was wrong with the input.
  std::function<Result<int>(const Arguments&)> run;
  // Whether all ranks run it together, by Arguments::comm(); else rank 0 runs it and the others wait.
  bool over_ranks = false;
};

// The commands there are, in the order of the help.
const std::vector<Command>& commands();

Command train_command();
Command tune_command();
Command predict_command();
Command evaluate_command();
Command diagnose_command();
Command inspect_command();
Command reduce_command();
Command generate_command();
Command corpus_command();
Command bag_command();
Command convert_command();
Command experiment_command();
Command report_command();
Command methods_command();

}  // namespace bagwise::cli
