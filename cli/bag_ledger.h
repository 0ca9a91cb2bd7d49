// The bags of a table that is read block by block, and the share of positives known for each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bagwise/bags/proportions.h"
#include "bagwise/data/read_table.h"

namespace bagwise::cli {

class BagLedger {
 public:
  // The proportions are in a table of their own, or (nothing given) in the instances' proportion column.
  explicit BagLedger(std::optional<ProportionTable> table) : table_(std::move(table)) {}

  // The bag of each row of the block, numbered over the whole table. Errors: no bag column, no proportion
  // column where one is needed, a bag without proportion, one with two.
  Result<std::vector<std::uint32_t>> enter(const TableBlock& block, const std::string& file);
  // After the last block. Errors: a proportion without bag, a size that does not match.
  [[nodiscard]] Result<void> check(const std::string& file) const;

  struct Bag {
    std::string name;
    std::uint64_t rows = 0;
    double known = 0;
  };
  [[nodiscard]] const std::vector<Bag>& bags() const { return bags_; }
  [[nodiscard]] std::vector<double> shares() const;  // known of each bag

 private:
  Result<std::uint32_t> find_or_add(const std::string& name, double share, const std::string& file);

  std::optional<ProportionTable> table_;
  std::map<std::string, std::uint32_t> index_;
  std::vector<Bag> bags_;
};

}  // namespace bagwise::cli
