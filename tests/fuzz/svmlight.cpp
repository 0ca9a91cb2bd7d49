// SVMlight tables.
#include <cstdint>

#include "bagwise/data/write_table.h"
#include "harness.h"
#include "tables.h"

namespace bagwise::fuzz {
namespace {

// An index up to 2^24 is right, and gives as many features, each with a name: half a gigabyte and seconds,
// which the constant of the format bounds. No time is spent on it here.
bool has_large_index(std::string_view input) {
  constexpr std::uint64_t kLarge = 20000;
  std::uint64_t number = 0;
  for (const char c : input) {
    if (c >= '0' && c <= '9') {
      number = std::min<std::uint64_t>(number * 10 + static_cast<std::uint64_t>(c - '0'), 1U << 30);
    } else {
      if (c == ':' && number > kLarge && number <= (1U << 24)) return true;
      number = 0;
    }
  }
  return false;
}

}  // namespace

const Bound kBound{.fixed = 24 * kMiB, .per_byte = 512};

void fuzz_one(std::string_view input) {
  if (has_large_index(input)) return;
  const std::string path = input_file("table.svm", input);
  const TableOptions plain{.want_labels = true};
  if (read_every_way(path, plain)) {
    TableOptions options = plain;
    options.threads = 1;
    const auto table = read_table(path, options);
    const std::string copy = input_path("copy.svm");
    // Bags that are no numbers have no place in SVMlight.
    if (write_table(copy, *table)) {
      const auto back = read_table(copy, options);
      require(back.ok() && back->rows() == table->rows() && back->labels == table->labels,
              "what is written reads back");
    }
  }
  if (one_of(2, input) == 0) {
    read_every_way(path, {.want_groups = true, .exclude = {"2"}});
  } else {
    read_every_way(path, {.expected_features = {"3", "1"}, .absent_as_zero = true});
  }
}

}  // namespace bagwise::fuzz
