// Dataset: a table of instances as it was read: features by rows, their names, and what else the file said.
//
// Labels stand apart from the features, and nothing below `evaluate` may look at them: what a training method
// is given (bags/bagged_data.h) has no place for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bagwise/linalg/rows.h"

namespace bagwise {

// Features by rows, dense or sparse; of their own, or somewhere else in memory.
class Features {
 public:
  Features() = default;
  Features(DenseRows rows) : rows_(std::move(rows)) {}
  Features(Csr rows) : rows_(std::move(rows)) {}

  // Rows that stay where they are. `keeper` holds on to them for as long as anyone has these features;
  // without one they must outlive all copies. Sparse columns ascend within a row.
  static Features in_place(const RowsView& rows, std::shared_ptr<const void> keeper = {}) {
    Features out;
    out.rows_ = InPlace{rows, std::move(keeper)};
    return out;
  }

  [[nodiscard]] RowsView view() const {
    return std::visit([](const auto& r) -> RowsView { return r.view(); }, rows_);
  }
  [[nodiscard]] std::size_t rows() const { return row_count(view()); }
  [[nodiscard]] std::size_t columns() const { return column_count(view()); }
  [[nodiscard]] bool sparse() const { return std::holds_alternative<CsrView>(view()); }

 private:
  struct InPlace {
    RowsView rows;
    std::shared_ptr<const void> keeper;

    [[nodiscard]] RowsView view() const { return rows; }
  };
  std::variant<DenseRows, Csr, InPlace> rows_;
};

// The rows of the given numbers, in that order.
inline Features take_rows(const RowsView& rows, std::span<const std::size_t> which) {
  return std::visit([&](const auto& view) { return Features(take_rows(view, which)); }, rows);
}

// A column of text held as codes into its distinct values, in order of first appearance.
struct TextColumn {
  std::vector<std::uint32_t> codes;  // one per row; empty = the table has no such column
  std::vector<std::string> values;   // distinct

  [[nodiscard]] bool present() const { return !codes.empty(); }
};

struct Dataset {
  Features features;
  std::vector<std::string> feature_names;
  TextColumn groups;                // the bag column, as text
  std::vector<double> shares;       // the proportion column, per row; empty = none
  std::vector<double> bounds;       // the delta column, per row; empty = none
  std::vector<std::int8_t> labels;  // +1 / -1 (0 = none for this row); empty = no label column
  std::vector<std::string> ids;     // the id column; empty = none, rows are called 1, 2, 3, ...

  [[nodiscard]] std::size_t rows() const { return features.rows(); }
};

}  // namespace bagwise
