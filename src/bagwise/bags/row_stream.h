// RowStream: the rows of a task in their bags, read again for every pass over them.
//
// For methods that look at single rows but need never have them all at once. memory_rows.h has rows that are
// in memory, streamed_rows.h those of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

// Some consecutive rows; a view, gone after the call that gets it.
struct RowBlock {
  RowsView rows;
  std::span<const std::uint32_t> bag_of_row;
  std::span<const double> bounds = {};  // empty: the rows have none
};

class RowStream {
 public:
  virtual ~RowStream() = default;
  [[nodiscard]] virtual std::size_t features() const = 0;

  // What is made of one block, and taken up again by whoever made it.
  using Part = std::shared_ptr<void>;
  using Work = std::function<Part(const RowBlock&)>;  // on any thread
  using Fold = std::function<void(Part)>;             // in the order of the blocks, on the caller's thread

  // One pass over all rows. The blocks are fixed by the input, never by the number of threads.
  // Errors: a file that is gone or no longer what it was in the pass before, and what reading it can meet.
  virtual Result<void> pass(const Work& work, const Fold& fold, unsigned threads,
                            const Observer& observer) = 0;
};

// The sum of parts over all blocks: work(block, part) fills each, `zero` to begin with, and add(sum, part)
// adds them up in the order of the blocks.
template <class Sum, class Work, class Add>
Result<Sum> sum_over_blocks(RowStream& stream, const Sum& zero, const Work& work, const Add& add,
                            unsigned threads, const Observer& observer = {}) {
  Sum total = zero;
  const auto part_of = [&](const RowBlock& block) {
    auto part = std::make_shared<Sum>(zero);
    work(block, *part);
    return RowStream::Part(std::move(part));
  };
  const auto fold = [&](const RowStream::Part& part) { add(total, *static_cast<const Sum*>(part.get())); };
  if (auto passed = stream.pass(part_of, fold, threads, observer); !passed) return passed.error();
  return total;
}

}  // namespace bagwise
