// Files of bag means.
#include "bagwise/bags/bag_means.h"

#include "bagwise/bags/grouped_sums.h"
#include "harness.h"

namespace bagwise::fuzz {

const Bound kBound{.fixed = 8 * kMiB, .per_byte = 512};

void fuzz_one(std::string_view input) {
  const auto sums = read_bag_means(input_file("means.csv", input));
  if (!sums) return require_error(sums.error());
  const std::string bytes = sums->to_bytes();
  const auto back = GroupedSums::from_bytes(bytes, "sums");
  require(back.ok(), back ? "" : "its sums can be written and read: " + back.error().text());
  require(back->to_bytes() == bytes, "its sums read back the same");
}

}  // namespace bagwise::fuzz
