// Rows of files as a RowStream: parsed again for every pass, on all cores, in constant memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bagwise/bags/row_stream.h"
#include "bagwise/data/name_table.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/table_source.h"

namespace bagwise {

class StreamedRows final : public RowStream {
  struct Key {};  // open() alone makes these

 public:
  explicit StreamedRows(Key) {}
  // `options` as the table was read with before, `features` what it was found to have, `bags` the names of
  // the bags its rows are in. Error: files that cannot be read twice (a pipe) or not at all.
  static Result<std::unique_ptr<StreamedRows>> open(TableSource source, TableOptions options,
                                                    std::vector<std::string> features,
                                                    const std::vector<std::string>& bags);

  [[nodiscard]] std::size_t features() const override { return features_.size(); }
  Result<void> pass(const Work& work, const Fold& fold, unsigned threads, const Observer& observer) override;

 private:
  // What shows that a file is still the one it was.
  struct Stamp {
    std::uint64_t bytes = 0;
    std::int64_t seconds = 0, nanoseconds = 0;  // of the last change
    bool operator==(const Stamp&) const = default;
  };
  [[nodiscard]] std::vector<std::string> paths() const;
  [[nodiscard]] static Result<Stamp> stamp_of(const std::string& path);
  [[nodiscard]] Result<void> check_stamps() const;

  TableSource source_;
  TableOptions options_;
  std::vector<std::string> features_;
  NameTable bags_;
  std::vector<Stamp> stamps_;
  std::uint64_t rows_ = 0;
  bool counted_ = false;  // rows_ is that of the first pass
};

}  // namespace bagwise
