// Files of proportions.
#include "bagwise/bags/proportions.h"

#include <cmath>

#include "harness.h"

namespace bagwise::fuzz {

const Bound kBound{.fixed = 8 * kMiB, .per_byte = 256};

void fuzz_one(std::string_view input) {
  const auto table = read_proportions(input_file("shares.csv", input));
  if (!table) return require_error(table.error());
  require(!table->bags.empty(), "there is a bag");
  for (const auto& [name, known] : table->bags) {
    require(!name.empty() && known.proportion >= 0 && known.proportion <= 1, "a bag has a name and a share");
    require(!known.size || *known.size > 0, "a bag has rows");
    require(known.stderror >= 0 && known.epsilon_dp >= 0 && std::isfinite(known.stderror) &&
                std::isfinite(known.noise(1)),
            "the noise is finite");
  }
  const std::string copy = input_path("copy.csv");
  require(write_proportions(copy, *table).ok(), "it can be written");
  const auto back = read_proportions(copy);
  require(back.ok() && back->bags.size() == table->bags.size(), "what is written reads back");
  for (const auto& [name, known] : table->bags) {
    const auto found = back->bags.find(name);
    require(found != back->bags.end() && found->second.proportion == known.proportion &&
                found->second.size == known.size && found->second.noise(7) == known.noise(7),
            "what is written reads back the same");
  }
}

}  // namespace bagwise::fuzz
