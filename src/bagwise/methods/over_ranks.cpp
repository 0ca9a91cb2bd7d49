#include "bagwise/methods/over_ranks.h"

#include <algorithm>

namespace bagwise {
namespace {

// The moments of one rank as plain numbers, and back.
std::vector<double> pack(const FeatureMoments& m) {
  std::vector<double> out = {static_cast<double>(m.rows)};
  for (std::size_t j = 0; j < m.sum.size(); ++j) {
    for (const CompensatedSum& s : {m.sum[j], m.sum_of_squares[j]}) out.insert(out.end(), {s.high, s.low});
    out.push_back(m.largest[j]);
  }
  return out;
}

FeatureMoments unpack(const double* from, std::size_t features) {
  FeatureMoments m(features);
  m.rows = static_cast<std::uint64_t>(*from++);
  for (std::size_t j = 0; j < features; ++j, from += 5) {
    m.sum[j] = {from[0], from[1]};
    m.sum_of_squares[j] = {from[2], from[3]};
    m.largest[j] = from[4];
  }
  return m;
}

}  // namespace

void sum_over_ranks(ReducedBags& data, Communicator& comm) {
  if (comm.size() == 1) return;
  std::vector<double> sums = data.sums.pack();
  comm.sum(sums);
  data.sums.unpack(sums);

  // Moments are merged rank by rank, which keeps what the variance needs: each rank's stand in a place of
  // their own.
  const std::vector<double> mine = pack(data.moments);
  std::vector<double> all(mine.size() * static_cast<std::size_t>(comm.size()), 0.0);
  std::copy(
      mine.begin(), mine.end(),
      all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * static_cast<std::ptrdiff_t>(comm.rank()));
  comm.sum(all);
  FeatureMoments merged(data.moments.sum.size());
  for (std::size_t at = 0; at < all.size(); at += mine.size())
    merged.merge(unpack(&all[at], merged.sum.size()));
  data.moments = std::move(merged);
}

}  // namespace bagwise
