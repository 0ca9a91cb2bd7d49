// The command line's entry: picks the command, turns what went wrong into one line and an exit status.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/memory_budget.h"
#include "bagwise/core/version.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/ranks.h"
#include "cli/suggest.h"

namespace bagwise::cli {
namespace {

constexpr int kBadInput = 2;

Ending complaint(const std::string& message) { return {kBadInput, message}; }

const Command* find_command(const std::string& name) {
  for (const Command& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

Ending unknown_command(const std::string& word) {
  std::vector<std::string> known = {"--help", "--version", "help"};
  for (const Command& command : commands()) known.push_back(command.name);
  return complaint(fmt::format("unknown {} {}; {}", word.starts_with('-') ? "option" : "command", word,
                               suggestion(word, known, "bagwise --help lists the commands")));
}

Ending show(const std::string& text) {
  print(text);
  if (auto finished = finish_output(); !finished) return complaint(finished.error().text());
  return {};
}

// Ranks divide the cores of their host. A command that is not for ranks is rank 0's, which has them all.
void join_ranks(const Command& command, const Ranks& ranks, Arguments& arguments) {
  if (ranks.comm() == nullptr || !command.over_ranks) return;
  arguments.run_over(*ranks.comm());
  for (const char* option : {"threads", "jobs"})
    arguments.settle(option, "0", fmt::format("{}", ranks.threads_each()));
}

void take_away_half_made() noexcept {
  AtomicFile::abandon_all();
  MadeFolders::abandon_all();
}

Ending run_words(std::vector<std::string> words, const Ranks& ranks) {
  if (words.empty()) return complaint("no command given; bagwise --help lists the commands");
  if (words[0] == "help" && words.size() > 1) words = {words[1], "--help"};
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") return show(overview());
  if (words[0] == "--version") return show(fmt::format("bagwise {}\n", kVersion));
  const Command* command = find_command(words[0]);
  if (command == nullptr) return unknown_command(words[0]);
  auto arguments = parse(*command, {words.begin() + 1, words.end()});
  if (!arguments) return complaint(arguments.error().text());
  if (!*arguments) return show(help_text(*command));

  catch_interrupts(take_away_half_made);
  const bool waits = ranks.comm() != nullptr && ranks.comm()->rank() != 0 && !command->over_ranks;
  if (waits) return {};
  join_ranks(*command, ranks, **arguments);
  const auto status = command->run(**arguments);
  if (interrupted() != 0) return {128 + interrupted()};
  if (!status) return complaint(status.error().text());
  if (auto finished = finish_output(); !finished) return complaint(finished.error().text());
  return {*status};
}

// An exception as an ending. Memory may be gone: what is said then fits where it is.
Ending ending_of(const std::exception_ptr& exception) {
  try {
    try {
      std::rethrow_exception(exception);
    } catch (const Interrupted&) {
      return {128 + interrupted()};
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::resource_unavailable_try_again)
        return complaint("cannot start a thread: the system gives no more of them");
      return complaint(fmt::format("the system refused: {}", error.what()));
    } catch (const std::exception& error) {
      return complaint(fmt::format("internal error: {}; please report it", error.what()));
    }
  } catch (const std::bad_alloc&) {
    return {kBadInput, kOutOfMemory};
  }
}

// One thread does; the process ends meanwhile for the others.
void abandon_outputs() noexcept {
  static std::atomic_flag begun;
  while (begun.test_and_set()) pause();
  std::set_new_handler(nullptr);
  take_away_half_made();
}

// Called where there is no memory, instead of an exception: on its way up it would meet code that needs
// memory to clean up after itself (nlohmann's JSON does, in destructors). Nothing may be allocated here.
[[noreturn]] void end_without_memory() {
  abandon_outputs();
  complain(kOutOfMemory);
  _exit(kBadInput);
}

// Where an exception can go no further.
[[noreturn]] void end_at_once() noexcept {
  abandon_outputs();
  const std::exception_ptr current = std::current_exception();
  try {
    if (current) std::rethrow_exception(current);
  } catch (const std::bad_alloc&) {
    complain(kOutOfMemory);
    _exit(kBadInput);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bagwise: internal error: %s; please report it\n", error.what());
  } catch (...) {
    std::fputs("bagwise: internal error; please report it\n", stderr);
  }
  std::abort();
}

}  // namespace
}  // namespace bagwise::cli

int main(int argc, char** argv) {
  std::set_terminate(bagwise::cli::end_at_once);
  // A reader that went away (| head) ends us quietly, even where our parent ignored the signal.
  std::signal(SIGPIPE, SIG_DFL);
  // A limit on file sizes is an error like a full disk, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  bagwise::cli::Ranks ranks;
  try {
    if (auto limited = bagwise::limit_memory_by_environment(); !limited)
      return ranks.end({bagwise::cli::kBadInput, limited.error().text()});
    if (auto joined = ranks.join(); !joined)
      return ranks.end({bagwise::cli::kBadInput, joined.error().text()});
    if (ranks.comm() == nullptr)
      std::set_new_handler(bagwise::cli::end_without_memory);  // else all ranks end
    return ranks.end(bagwise::cli::run_words({argv + std::min(argc, 1), argv + argc}, ranks));
  } catch (...) {
    return ranks.abort(bagwise::cli::ending_of(std::current_exception()));
  }
}
