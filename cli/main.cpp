// The command line's entry: picks the command, turns what went wrong into one line and an exit status.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "bagwise/core/version.h"
#include "bagwise/report/table.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/suggest.h"

namespace bagwise::cli {
namespace {

constexpr int kBadInput = 2;
constexpr std::size_t kLongestLine = 2000;

// One line, whatever bytes a file's cells or names have.
int complain(const std::string& message) {
  std::fputs(fmt::format("bagwise: {}\n", printable(message, kLongestLine)).c_str(), stderr);
  return kBadInput;
}

const Command* find_command(const std::string& name) {
  for (const Command& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int unknown_command(const std::string& word) {
  std::vector<std::string> known = {"--help", "--version", "help"};
  for (const Command& command : commands()) known.push_back(command.name);
  return complain(fmt::format("unknown {} {}; {}", word.starts_with('-') ? "option" : "command", word,
                              suggestion(word, known, "bagwise --help lists the commands")));
}

int show(const std::string& text) {
  print(text);
  if (auto finished = finish_output(); !finished) return complain(finished.error().text());
  return 0;
}

int run_words(std::vector<std::string> words) {
  if (words.empty()) return complain("no command given; bagwise --help lists the commands");
  if (words[0] == "help" && words.size() > 1) words = {words[1], "--help"};
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") return show(overview());
  if (words[0] == "--version") return show(fmt::format("bagwise {}\n", kVersion));
  const Command* command = find_command(words[0]);
  if (command == nullptr) return unknown_command(words[0]);
  const auto arguments = parse(*command, {words.begin() + 1, words.end()});
  if (!arguments) return complain(arguments.error().text());
  if (!*arguments) return show(help_text(*command));

  catch_interrupts();
  const auto status = command->run(**arguments);
  if (interrupted() != 0) return 128 + interrupted();
  if (!status) return complain(status.error().text());
  if (auto finished = finish_output(); !finished) return complain(finished.error().text());
  return *status;
}

}  // namespace
}  // namespace bagwise::cli

int main(int argc, char** argv) {
  using bagwise::cli::complain;
  // A reader that went away (| head) ends us quietly, even where our parent ignored the signal.
  std::signal(SIGPIPE, SIG_DFL);
  // A limit on file sizes is an error like a full disk, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return bagwise::cli::run_words({argv + std::min(argc, 1), argv + argc});
  } catch (const std::bad_alloc&) {
    return complain("out of memory");
  } catch (const std::exception& error) {
    return complain(fmt::format("internal error: {}; please report it", error.what()));
  }
}
