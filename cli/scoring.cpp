#include "cli/scoring.h"

#include <fmt/format.h>

#include <algorithm>

namespace bagwise::cli {

Result<std::vector<double>> finite_scores(const Scorer& scorer, const TableBlock& block, unsigned threads,
                                          const std::string& file) {
  auto out = bagwise::finite_scores(scorer, block.rows.features.view(), threads, block.first_row);
  if (out) return out;
  Error error = out.error();
  error.file = file;
  return error;
}

UnknownValues::UnknownValues(const Model& model) {
  if (model.missing == "zero") return;
  for (const std::string& name : model.one_hot) {
    Column column{name, {}};
    for (std::size_t j = 0; j < model.features.size(); ++j) {
      if (model.features[j].starts_with(name + "=")) column.features.push_back(j);
    }
    if (!column.features.empty()) columns_.push_back(std::move(column));
  }
}

void UnknownValues::count(const TableBlock& block) {
  const RowsView view = block.rows.features.view();
  const auto* dense = std::get_if<DenseView>(&view);
  if (dense == nullptr) return;  // a sparse table has no columns of text
  for (Column& column : columns_) {
    for (std::size_t i = 0; i < dense->rows; ++i) {
      const auto row = dense->row(i);
      const bool unknown = std::all_of(column.features.begin(), column.features.end(),
                                       [&](std::size_t j) { return row[j] == 0; });
      column.rows += unknown ? 1 : 0;
    }
  }
}

void UnknownValues::add_up(Communicator& ranks) {
  std::vector<double> rows;
  for (const Column& column : columns_) rows.push_back(static_cast<double>(column.rows));
  ranks.sum(rows);
  for (std::size_t c = 0; c < rows.size(); ++c) columns_[c].rows = static_cast<std::uint64_t>(rows[c]);
}

std::vector<std::string> UnknownValues::remarks() const {
  std::vector<std::string> out;
  for (const Column& column : columns_) {
    if (column.rows == 0) continue;
    out.push_back(fmt::format("{} a value of \"{}\" that the model was not trained on; it counts as none",
                              column.rows == 1 ? "1 row has" : fmt::format("{} rows have", column.rows),
                              column.name));
  }
  return out;
}

Error at_prediction(Error error) {
  struct Hint {
    const char* of_training;  // how the hint begins; it ends the message
    const char* now;
  };
  constexpr Hint kHints[] = {
      {" (--missing ", " (the model was trained without --missing: fill the cell, or train again with it)"},
      {" (--one-hot ", " (the model takes numbers in this column: it was trained without --one-hot for it)"},
  };
  for (const Hint& hint : kHints) {
    const auto at = error.message.rfind(hint.of_training);
    if (at == std::string::npos || !error.message.ends_with(')')) continue;
    error.message.replace(at, std::string::npos, hint.now);
    break;
  }
  return error;
}

}  // namespace bagwise::cli
