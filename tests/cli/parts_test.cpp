// The small parts of the command line by themselves.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iterator>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/random.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/scoring.h"
#include "cli/suggest.h"
#include "cli/table_arguments.h"
#include "support/temp_dir.h"

namespace bagwise::cli {
namespace {

// Tries every way: the first letters stay, go, come, change or swap.
std::size_t slow_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  std::size_t best = slow_distance(a.substr(1), b.substr(1)) + (a[0] == b[0] ? 0 : 1);
  best = std::min(best, slow_distance(a.substr(1), b) + 1);
  best = std::min(best, slow_distance(a, b.substr(1)) + 1);
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
    best = std::min(best, slow_distance(a.substr(2), b.substr(2)) + 1);
  }
  return best;
}

std::string random_word(Rng& rng) {
  std::string out(rng.below(7), ' ');
  for (char& c : out) c = static_cast<char>('a' + rng.below(3));
  return out;
}

}  // namespace

TEST_CASE("suggest: the distance agrees with trying every way", "[cli][suggest]") {
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    const std::string a = random_word(rng), b = random_word(rng);
    INFO(a << " " << b);
    REQUIRE(edit_distance(a, b) == slow_distance(a, b));
  }
}

TEST_CASE("suggest: the nearest word is offered, none if all are far", "[cli][suggest]") {
  const std::vector<std::string> known = {"--target", "--target-proportions", "--threads"};
  CHECK(suggestion("--traget", known, "no") == "did you mean --target?");
  CHECK(suggestion("--target-prop", known, "no") == "did you mean --target-proportions?");
  CHECK(suggestion("--colour", known, "no") == "no");
}

TEST_CASE("suggest: a word of few letters is near to nothing but itself", "[cli][suggest]") {
  const std::vector<std::string> known = {"--C", "--gap", "--task", "--json"};
  for (const char* word : {"--", "-", "-x", "--x", "-Cx", "--ab"}) {
    INFO(word);
    CHECK(suggestion(word, known, "no") == "no");
  }
  CHECK(suggestion("--c", known, "no") == "did you mean --C?");
  CHECK(suggestion("-C", known, "no") == "did you mean --C?");
  CHECK(suggestion("--gpa", known, "no") == "did you mean --gap?");
  CHECK(suggestion("--GAP", known, "no") == "did you mean --gap?");
}

TEST_CASE("interrupt: a blocked read comes back when a signal is caught", "[cli][interrupt]") {
  struct sigaction before {
  }, set{};
  REQUIRE(sigaction(SIGINT, nullptr, &before) == 0);
  if (before.sa_handler == SIG_IGN) std::signal(SIGINT, SIG_DFL);
  catch_interrupts();
  REQUIRE(sigaction(SIGINT, &before, &set) == 0);
  CHECK(set.sa_handler != SIG_DFL);
  CHECK((set.sa_flags & SA_RESTART) == 0);
}

TEST_CASE("interrupt: the second signal ends at once and leaves nothing half made", "[cli][interrupt]") {
  const test::TempDir dir;
  const std::string path = dir.file("out.csv");
  const auto entries = [&] {
    const std::filesystem::directory_iterator all(dir.path);
    return std::distance(begin(all), end(all));
  };
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);
    auto file = AtomicFile::create(path);
    catch_interrupts(AtomicFile::abandon_all);
    raise(SIGTERM);
    if (!file || interrupted() != SIGTERM || entries() != 1) _exit(1);
    raise(SIGTERM);
    _exit(2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(entries() == 0);
}

TEST_CASE("scoring: a fault at prediction advises no option of train", "[cli][scoring]") {
  const auto told = [](const char* message) { return at_prediction(Error{message}).message; };
  CHECK(told("is empty; expected x (--missing mean|zero fills empty cells)") ==
        "is empty; expected x (the model was trained without --missing: fill the cell, or train again with "
        "it)");
  CHECK(told("\"a (--one-hot b\" is not a number (--one-hot c) takes text)") ==
        "\"a (--one-hot b\" is not a number (the model takes numbers in this column: it was trained without "
        "--one-hot for it)");
  CHECK(told("is empty") == "is empty");
}

TEST_CASE("progress: the line has phase, percentage, rate and time left", "[cli][progress]") {
  CHECK(progress_line({"reading", 50e6, 200e6, 0}, 0.5) ==
        "reading   [######..................]  25%  100 MB/s  2 s left");
  CHECK(progress_line({"solving", 4, 0, 3e-5}, 2) == "solving   4  2.0/s  gap 3.0e-05");
  CHECK(progress_line({"reading", 9e9, 9e12, 0}, 60) ==
        "reading   [........................]   0%  150 MB/s  16.6 h left");
  CHECK(progress_line({"reading", 10, 10, 0}, 0) == "reading   [########################] 100%");
}

TEST_CASE("arguments: names are split at commas, quotes keep them", "[cli][arguments]") {
  using Names = std::vector<std::string>;
  CHECK(split_names({}).empty());
  CHECK(split_names({"a,b", "c"}) == Names{"a", "b", "c"});
  CHECK(split_names({"\"a,b\",c d"}) == Names{"a,b", "c d"});
  CHECK(split_names({"\"a\"\"b\",5\"x"}) == Names{"a\"b", "5\"x"});
}

TEST_CASE("arguments: values are checked against kind and range", "[cli][arguments]") {
  const Option whole = {.name = "n", .kind = Kind::kWhole, .least = 1, .most = 9};
  const Option number = {.name = "x", .kind = Kind::kNumber, .least = 0, .most = 1};
  for (const char* text : {"1", "9"}) CHECK(check_value(whole, text).ok());
  for (const char* text : {"0", "10", "-1", "", "1.5", "9x", "99999999999999999999"}) {
    CHECK_FALSE(check_value(whole, text).ok());
  }
  for (const char* text : {"0", "1", "0.5", "1e-3"}) CHECK(check_value(number, text).ok());
  for (const char* text : {"-0.1", "1.1", "nan", "inf", "", "0,5"})
    CHECK_FALSE(check_value(number, text).ok());
  CHECK(check_value(number, "2").error().text() == "--x: \"2\" is not a number from 0 to 1");
}

}  // namespace bagwise::cli
