#include "bagwise/bags/deal.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace bagwise {

Result<DealtBags> deal_bags(Dataset labelled, std::uint64_t size, Rng& rng) {
  const std::size_t rows = labelled.rows();
  if (size == 0) return Error{"bag size = 0 breaks bag size >= 1"};
  if (rows == 0) return Error{"there are no rows to deal into bags; expected at least one"};
  if (rows > std::numeric_limits<std::uint32_t>::max()) {
    return Error{fmt::format("there are {} rows; expected at most {}", rows,
                             std::numeric_limits<std::uint32_t>::max())};
  }
  if (labelled.labels.empty()) return Error{"there is no label column; bags are made from labelled rows"};
  if (const auto none = std::find(labelled.labels.begin(), labelled.labels.end(), 0);
      none != labelled.labels.end()) {
    return Error{fmt::format("row {} has no label; bags are made from labelled rows",
                             none - labelled.labels.begin() + 1)};
  }

  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  shuffle(std::span<std::uint32_t>(order), rng);
  std::vector<std::uint32_t> bag_of_row(rows);
  for (std::size_t i = 0; i < rows; ++i) bag_of_row[order[i]] = static_cast<std::uint32_t>(i / size);

  const std::size_t bags = static_cast<std::size_t>((rows - 1) / size + 1);
  const std::size_t width = fmt::formatted_size("{}", bags);
  std::vector<std::uint64_t> counts(bags, 0), positives(bags, 0);
  for (std::size_t i = 0; i < rows; ++i) {
    ++counts[bag_of_row[i]];
    if (labelled.labels[i] > 0) ++positives[bag_of_row[i]];
  }

  DealtBags out;
  const auto name = [&](std::size_t bag) { return fmt::format("{:0{}}", bag + 1, width); };
  for (std::size_t k = 0; k < bags; ++k) {
    const double share = static_cast<double>(positives[k]) / static_cast<double>(counts[k]);
    out.proportions.bags.emplace(name(k), KnownProportion{share, counts[k], 0});
  }
  // A text column lists its values in order of first appearance.
  constexpr auto kUnseen = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> code_of_bag(bags, kUnseen);
  TextColumn groups;
  groups.codes.reserve(rows);
  for (const std::uint32_t bag : bag_of_row) {
    if (code_of_bag[bag] == kUnseen) {
      code_of_bag[bag] = static_cast<std::uint32_t>(groups.values.size());
      groups.values.push_back(name(bag));
    }
    groups.codes.push_back(code_of_bag[bag]);
  }
  labelled.groups = std::move(groups);
  labelled.shares.clear();
  labelled.labels.clear();
  out.instances = std::move(labelled);
  return out;
}

}  // namespace bagwise
