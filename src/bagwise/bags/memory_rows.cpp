#include "bagwise/bags/memory_rows.h"

#include <algorithm>
#include <vector>

#include "bagwise/core/parallel.h"

namespace bagwise {
namespace {

RowsView slice(const DenseView& rows, std::size_t from, std::size_t count) {
  return DenseView{rows.values + from * rows.columns, count, rows.columns};
}
RowsView slice(const CsrView& rows, std::size_t from, std::size_t count) {
  return CsrView{rows.start.subspan(from, count + 1), rows.index, rows.values, count, rows.columns};
}

}  // namespace

Result<void> MemoryRows::pass(const Work& work, const Fold& fold, unsigned threads,
                              const Observer& observer) {
  // Some blocks at a time, so that no more parts than these wait to be folded.
  constexpr std::size_t kBlock = 4096, kAtOnce = 16;
  const RowsView all = data_.features.view();
  const std::size_t n = row_count(all), blocks = (n + kBlock - 1) / kBlock;
  for (std::size_t first = 0; first < blocks; first += kAtOnce) {
    std::vector<Part> parts(std::min(kAtOnce, blocks - first));
    parallel_for(parts.size(), threads, [&](std::size_t k) {
      const std::size_t from = (first + k) * kBlock, count = std::min(kBlock, n - from);
      RowBlock block{std::visit([&](const auto& rows) { return slice(rows, from, count); }, all),
                     std::span(data_.bag_of_row).subspan(from, count)};
      if (!data_.bounds.empty()) block.bounds = std::span(data_.bounds).subspan(from, count);
      parts[k] = work(block);
    });
    for (Part& part : parts) fold(std::move(part));
    if (tell(observer, {"reading", static_cast<double>(std::min(n, (first + kAtOnce) * kBlock)),
                        static_cast<double>(n)}) == Next::kStop)
      return Error{"stopped while the rows were read"};
  }
  return {};
}

}  // namespace bagwise
