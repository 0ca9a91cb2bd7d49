// Guarding against labels that slip in as features.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/result.h"

namespace bagwise {

// What bags tell of labels under another name. Bags may be in several places: each has a scan of its own, and
// these merge.
struct LeakScan {
  std::vector<std::uint8_t> apart;  // per line that labels may lie on and feature: 1 where a bag is off it
  bool any_rows = false;
  double least_share = std::numeric_limits<double>::infinity(), largest_share = -least_share;

  void merge(const LeakScan& other);
  [[nodiscard]] std::vector<std::size_t> leaked() const;  // which features
};
LeakScan scan_for_leaks(const ReducedBags& data);

// The features whose bag means equal the bags' proportions in every bag: the label under another name.
// Values 0/1 are compared with the proportion p, -1/1 with 2p - 1, and the opposite class's with 1 - p and
// 1 - 2p; to 1e-9. In their order. None where all bags have the same proportion.
std::vector<std::string> leaked_features(const ReducedBags& data);

// That there is none; else an error that names the first of them and says what to do, which `ways_out` knows.
Result<void> check_leaks(const LeakScan& scan, const std::vector<std::string>& feature_names,
                         const std::string& file,
                         const std::function<std::string(const std::string& feature)>& ways_out);
Result<void> check_leaks(const ReducedBags& data, const std::string& file,
                         const std::function<std::string(const std::string& feature)>& ways_out);

}  // namespace bagwise
