// Rows in memory as a RowStream: the same passes as over files, without any reading.
#pragma once

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/row_stream.h"

namespace bagwise {

class MemoryRows final : public RowStream {
 public:
  explicit MemoryRows(const BaggedData& data) : data_(data) {}  // which must outlive this

  [[nodiscard]] std::size_t features() const override { return data_.features.columns(); }
  Result<void> pass(const Work& work, const Fold& fold, unsigned threads, const Observer& observer) override;

 private:
  const BaggedData& data_;
};

}  // namespace bagwise
