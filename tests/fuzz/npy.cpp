// Tables of NumPy (.npy).
#include "harness.h"
#include "tables.h"

namespace bagwise::fuzz {

const Bound kBound{.fixed = 8 * kMiB, .per_byte = 1024};

void fuzz_one(std::string_view input) {
  const std::string path = input_file("table.npy", input);
  read_every_way(path, {.want_labels = true, .want_ids = true});
  if (one_of(2, input) == 0) {
    read_every_way(path, {.want_labels = true, .one_hot = {"c"}, .missing = Missing::kMean});
  } else {
    read_every_way(path, {.expected_features = {"x2", "x1"}, .absent_as_zero = true});
  }
}

}  // namespace bagwise::fuzz
