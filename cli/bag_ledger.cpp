#include "cli/bag_ledger.h"

#include <fmt/format.h>

#include <limits>

namespace bagwise::cli {

Result<std::uint32_t> BagLedger::find_or_add(const std::string& name, double share, const std::string& file) {
  const auto [place, is_new] = index_.emplace(name, static_cast<std::uint32_t>(bags_.size()));
  if (is_new) {
    if (table_) {
      const auto known = table_->bags.find(name);
      if (known == table_->bags.end()) {
        return Error{
            fmt::format("bag \"{}\" has no proportion in {}; expected one for every bag", name, table_->file),
            file};
      }
      share = known->second.proportion;
    }
    if (!(share >= 0 && share <= 1)) {
      return Error{fmt::format("bag \"{}\" has proportion {}; expected a number from 0 to 1", name, share),
                   file};
    }
    bags_.push_back({name, 0, share});
  } else if (!table_ && bags_[place->second].known != share) {
    return Error{
        fmt::format("bag \"{}\" has proportion {} in one row and {} in another; expected one per bag", name,
                    bags_[place->second].known, share),
        file};
  }
  return place->second;
}

Result<std::vector<std::uint32_t>> BagLedger::enter(const TableBlock& block, const std::string& file) {
  const Dataset& rows = block.rows;
  if (!rows.groups.present()) return Error{"has no bag column; proportions are known per bag", file};
  if (!table_ && rows.shares.empty())
    return Error{"has no proportion column; expected one, or --proportions", file};
  if (table_ && !rows.shares.empty()) {
    return Error{
        fmt::format("has a proportion column although proportions are given in {}; expected one of the two",
                    table_->file),
        file};
  }
  constexpr auto kUnset = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> of_value(rows.groups.values.size(), kUnset), out(rows.groups.codes.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint32_t& bag = of_value[rows.groups.codes[i]];
    if (bag == kUnset || !table_) {
      auto found = find_or_add(rows.groups.values[rows.groups.codes[i]], table_ ? 0 : rows.shares[i], file);
      if (!found) return found.error();
      bag = *found;
    }
    out[i] = bag;
    ++bags_[bag].rows;
  }
  return out;
}

std::vector<double> BagLedger::shares() const {
  std::vector<double> out;
  for (const Bag& bag : bags_) out.push_back(bag.known);
  return out;
}

Result<void> BagLedger::check(const std::string& file) const {
  if (!table_) return {};
  for (const auto& [name, known] : table_->bags) {
    const auto found = index_.find(name);
    if (found == index_.end()) {
      return Error{fmt::format("bag \"{}\" has a proportion but no rows in {}", name, file), table_->file,
                   known.line};
    }
    if (const std::uint64_t rows = bags_[found->second].rows; known.size && *known.size != rows) {
      return Error{fmt::format("bag \"{}\" has size {}; {} has {} rows of it", name, *known.size, file, rows),
                   table_->file, known.line};
    }
  }
  return {};
}

}  // namespace bagwise::cli
