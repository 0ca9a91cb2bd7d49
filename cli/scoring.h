// What every command that applies a model to a table has in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bagwise/comm/communicator.h"
#include "bagwise/core/result.h"
#include "bagwise/data/read_table.h"
#include "bagwise/methods/model.h"
#include "bagwise/methods/scorer.h"

namespace bagwise::cli {

// The score of each row of the block. Error: one that is too large to be a number, with the row's number.
Result<std::vector<double>> finite_scores(const Scorer& scorer, const TableBlock& block, unsigned threads,
                                          const std::string& file);

// Counts the rows whose text in a one-hot column is no value the model was trained on: all its features are
// 0. Where empty cells were trained as 0 the two look the same, and nothing is counted.
class UnknownValues {
 public:
  explicit UnknownValues(const Model& model);
  void count(const TableBlock& block);
  [[nodiscard]] std::vector<std::string> remarks() const;  // one per column that has any
  void add_up(Communicator& ranks);                        // collective: what all of them counted

 private:
  struct Column {
    std::string name;
    std::vector<std::size_t> features;
    std::uint64_t rows = 0;
  };
  std::vector<Column> columns_;
};

// A fault of a table that is read for a model. Readers name the option of `train` that would help; here the
// model has decided already, so the hint says what helps now.
Error at_prediction(Error error);

}  // namespace bagwise::cli
