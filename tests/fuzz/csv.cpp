// CSV tables: as they are, with text columns and empty cells, and for a model's features.
#include "bagwise/data/write_table.h"
#include "harness.h"
#include "tables.h"

namespace bagwise::fuzz {

// The parsed rows are kept twice over, by names and as bytes to compare; a row of one cell is an id of 32
// bytes.
const Bound kBound{.fixed = 8 * kMiB, .per_byte = 512};

void fuzz_one(std::string_view input) {
  const std::string path = input_file("table.csv", input);
  const TableOptions plain{.want_labels = true, .want_ids = true};
  switch (one_of(3, input)) {
    case 0:
      read_every_way(path, {.want_labels = true, .one_hot = {"c"}, .missing = Missing::kMean});
      break;
    case 1:
      read_every_way(path, {.want_groups = true, .exclude = {"x"}, .missing = Missing::kZero});
      break;
    default:
      read_every_way(path, {.expected_features = {"x", "c=red", "y"}, .absent_as_zero = true});
  }
  if (read_every_way(path, plain)) {
    TableOptions options = plain;
    options.threads = 1;
    const auto table = read_table(path, options);
    const std::string copy = input_path("copy.csv");
    // What has a column called as one of another kind cannot be written under its own name.
    if (write_table(copy, *table)) {
      const auto back = read_table(copy, options);
      require(back.ok() && contents(*back) == contents(*table), "what is written reads back the same");
    }
  }
}

}  // namespace bagwise::fuzz
