#include "bagwise/methods/over_ranks.h"

#include <algorithm>

namespace bagwise {

void sum_over_ranks(ReducedBags& data, Communicator& comm) {
  if (comm.size() == 1) return;
  std::vector<double> packed = data.sums.pack();
  FeatureMoments& m = data.moments;
  const std::size_t features = m.sum.size(), sums = packed.size();
  packed.push_back(static_cast<double>(m.rows));
  for (const auto* part : {&m.sum, &m.sum_of_squares}) {
    for (const CompensatedSum& s : *part) packed.push_back(s.value());
  }
  // The largest value is no sum: each rank writes its own into a place of its own.
  const auto ranks = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  const std::size_t largest = packed.size();
  packed.resize(largest + ranks * features, 0.0);
  std::copy(m.largest.begin(), m.largest.end(),
            packed.begin() + static_cast<std::ptrdiff_t>(largest + rank * features));
  comm.sum(packed);

  data.sums.unpack(std::span(packed).first(sums));
  m.rows = static_cast<std::uint64_t>(packed[sums]);
  for (std::size_t j = 0; j < features; ++j) {
    m.sum[j] = {packed[sums + 1 + j], 0};
    m.sum_of_squares[j] = {packed[sums + 1 + features + j], 0};
    for (std::size_t r = 0; r < ranks; ++r)
      m.largest[j] = std::max(m.largest[j], packed[largest + r * features + j]);
  }
}

}  // namespace bagwise
