// bagwise: the file straight to BagSums, and into memory as a Dataset.
#include <cstdio>
#include <cstdlib>

#include "bagwise/bags/reduce_table.h"
#include "bagwise/core/timing.h"
#include "bagwise/data/read_table.h"
#include "task.h"

namespace reader_bench {
namespace {

template <class T>
T& or_die(bagwise::Result<T>& result) {
  if (result) return *result;
  std::fprintf(stderr, "%s\n", result.error().text().c_str());
  std::abort();
}

}  // namespace

Answer run_ours(const Task& task, unsigned threads) {
  const bagwise::Stopwatch watch;
  auto read = bagwise::reduce_table(task.file, {.threads = threads});
  Answer answer;
  answer.seconds = watch.seconds();
  const bagwise::GroupedSums& sums = or_die(read);
  for (std::size_t k = 0; k < sums.names.size(); ++k) {
    auto& row = answer.sums[sums.names[k]];
    for (std::size_t j = 0; j < kFeatures; ++j) row.push_back(sums.sums.sum(k, j));
  }
  return answer;
}

double run_read_table(const Task& task, unsigned threads, std::uint64_t& matrix_bytes) {
  const bagwise::Stopwatch watch;
  auto read = bagwise::read_table(task.file, {.threads = threads});
  const double seconds = watch.seconds();
  const bagwise::Dataset& table = or_die(read);
  matrix_bytes = table.rows() * table.features.columns() * sizeof(double);
  return seconds;
}

}  // namespace reader_bench
