// The journal of a tuning: lines behind the header that this program writes, or all of it.
#include "bagwise/report/tuning_journal.h"

#include "bagwise/core/atomic_file.h"
#include "harness.h"

namespace bagwise::fuzz {
namespace {

constexpr const char* kPrint = "0123456789abcdef";

std::string header() {
  const std::string path = input_file("fresh.jsonl", "");
  const auto fresh = TuningJournal::open(path, kPrint);
  require(fresh.ok(), "a journal can be made");
  const auto text = read_file(path, kMiB);
  require(text.ok() && text->ends_with('\n'), "a journal has a header");
  return *text;
}

}  // namespace

const Bound kBound{.fixed = 4 * kMiB, .per_byte = 2048};

void fuzz_one(std::string_view input) {
  static const std::string first = header();
  const std::string bytes =
      input.starts_with("{\"format\"") ? std::string(input) : first + std::string(input);
  const std::string path = input_file("tuning.jsonl", bytes);
  std::size_t found = 0;
  {
    const auto journal = TuningJournal::open(path, kPrint);
    if (!journal) return require_error(journal.error());
    found = (*journal)->found();
  }
  const auto left = read_file(path, kMiB * 64);
  require(left.ok() && left->starts_with(first), "a journal that was opened has its header");
  require(bytes.starts_with(*left) || *left == first, "what is not whole is cut off");
  const auto again = TuningJournal::open(path, kPrint);
  require(again.ok() && (*again)->found() == found, "opened again it has the same in it");
}

}  // namespace bagwise::fuzz
