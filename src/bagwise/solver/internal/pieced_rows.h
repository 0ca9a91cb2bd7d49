// Rows divided into pieces by their shape alone: passes over them have the same bits on any number of
// threads.
//
// Within a piece the rows come in blocks small enough to be in the cache still when they are used again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bagwise/core/parallel.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/linalg/rows.h"

namespace bagwise::internal {

// What a pass adds up.
struct PassSum {
  CompensatedSum value;
  double constant = 0;  // of the constant that rows have beside their columns
  Vector columns;
};

class PiecedRows {
 public:
  PiecedRows(const RowsView& rows, unsigned threads)
      : view_(rows),
        rows_(row_count(rows)),
        columns_(column_count(rows)),
        stored_(stored_values(rows).size()) {
    const std::size_t by_work = std::min(rows_ / kPieceRows, stored_ / (4 * (columns_ + 1)));
    pieces_ = std::clamp<std::size_t>(std::min(by_work, kSumValues / (columns_ + 1)), 1, kMostPieces);
    const std::size_t fit = kBlockValues / std::max<std::size_t>(columns_, 1);
    block_rows_ =
        std::holds_alternative<DenseView>(rows) ? std::clamp<std::size_t>(fit, 8, kLongBlock) : kLongBlock;
    threads_ = stored_ < kFewValues ? 1 : threads;
  }

  [[nodiscard]] const RowsView& view() const { return view_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t stored() const { return stored_; }
  [[nodiscard]] std::size_t pieces() const { return pieces_; }
  [[nodiscard]] unsigned threads() const { return threads_; }

  // Calls work(piece, from, to) for every block of rows; those of one piece in their order.
  template <class Work>
  void over_blocks(const Work& work) const {
    parallel_for(pieces_, threads_, [&](std::size_t piece) {
      const std::size_t end = (piece + 1) * rows_ / pieces_;
      for (std::size_t from = piece * rows_ / pieces_; from < end; from += block_rows_)
        work(piece, from, std::min(end, from + block_rows_));
    });
  }

  // The sum of what work(from, to, sum) adds for every block, in the order of the pieces.
  template <class Work>
  [[nodiscard]] PassSum sum(const Work& work) const {
    std::vector<PassSum> parts(pieces_);
    for (PassSum& part : parts) part.columns = Vector::Zero(static_cast<Eigen::Index>(columns_));
    over_blocks([&](std::size_t piece, std::size_t from, std::size_t to) { work(from, to, parts[piece]); });
    for (std::size_t piece = 1; piece < pieces_; ++piece) {
      parts[0].value.add(parts[piece].value);
      parts[0].constant += parts[piece].constant;
      parts[0].columns += parts[piece].columns;
    }
    return std::move(parts[0]);
  }

 private:
  static constexpr std::size_t kMostPieces = 64, kPieceRows = 128;
  static constexpr std::size_t kSumValues = std::size_t{1}
                                            << 22;  // of the sums of all pieces together: 32 MB
  static constexpr std::size_t kBlockValues = 16384, kLongBlock = 1024;
  // A pass over fewer values takes less than 0.2 ms: a second thread saves little more than its start costs.
  static constexpr std::size_t kFewValues = std::size_t{1} << 19;

  RowsView view_;
  std::size_t rows_, columns_, stored_, pieces_ = 1, block_rows_ = 1;
  unsigned threads_ = 1;
};

}  // namespace bagwise::internal
