// Labels that match the share of positives known for each bag: the highest scores first.
//
// Labels that have to fit the shares only roughly are in methods/bag_labels.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bagwise {

// In a bag of n rows with share p the round(p n) rows of highest score are positive (a half rounds up); of
// equal scores the earlier rows. `bag_of_row` numbers the bags as `shares` has them; scores are finite and
// shares in [0, 1]. True: positive.
std::vector<bool> matched_labels(std::span<const double> scores, std::span<const std::uint32_t> bag_of_row,
                                 std::span<const double> shares);

// The share of labelled rows (truth +1 or -1; 0: none) whose label is right; 0 if there is none.
double accuracy_of(const std::vector<bool>& labels, std::span<const std::int8_t> truth);

}  // namespace bagwise
