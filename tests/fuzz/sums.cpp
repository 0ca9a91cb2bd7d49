// Files of bag sums (.sums), which end in a checksum: a mutator puts half of the inputs right again.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>

#include "bagwise/bags/grouped_sums.h"
#include "bagwise/core/checksum.h"
#include "harness.h"

namespace bagwise::fuzz {
namespace {

void require_distinct(const std::vector<std::string>& names, const char* what) {
  require(std::set<std::string>(names.begin(), names.end()).size() == names.size(), what);
}

}  // namespace

const Bound kBound{.fixed = kMiB, .per_byte = 256};

void fuzz_one(std::string_view input) {
  auto sums = GroupedSums::from_bytes(input, "x.sums");
  if (!sums) return require_error(sums.error());
  require_distinct(sums->names, "bags differ");
  require_distinct(sums->schema.feature_names, "features differ");
  require(
      sums->sums.bags() == sums->names.size() && sums->sums.features() == sums->schema.feature_names.size(),
      "there are sums of every bag and feature");
  std::uint64_t rows = 0;
  for (std::size_t k = 0; k < sums->names.size(); ++k) {
    rows += sums->sums.count(k);
    require(!sums->names[k].empty() && sums->sums.count(k) > 0, "a bag has a name and rows");
    require(sums->sums.mean_bound(k) >= 0 && std::isfinite(sums->sums.mean_bound(k)), "a bound is one");
    if (sums->schema.has_shares) require(sums->shares[k] >= 0 && sums->shares[k] <= 1, "a proportion is one");
  }
  require(rows == sums->rows && rows <= (std::uint64_t{1} << 53), "the rows are those of the bags");
  const Features means = sums->sums.mean_rows();
  for (const double mean : stored_values(means.view())) require(std::isfinite(mean), "means are finite");
  require(sums->to_bytes() == input, "what was read writes the same bytes");
  GroupedSums twice = *sums;
  GroupedSums other = *sums;
  require(twice.merge(std::move(other)).ok() && twice.rows == 2 * sums->rows, "sums of one kind merge");
}

}  // namespace bagwise::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  constexpr std::size_t kLengthAt = 16, kHeader = 56, kCheck = 8;
  size = LLVMFuzzerMutate(data, size, most);
  if (!bagwise::fuzz::puts_right(seed) || size < kHeader + kCheck) return size;
  const std::uint64_t length = size;
  std::memcpy(data + kLengthAt, &length, sizeof length);
  const std::uint64_t check = bagwise::checksum_of({reinterpret_cast<const char*>(data), size - kCheck});
  std::memcpy(data + size - kCheck, &check, sizeof check);
  return size;
}
