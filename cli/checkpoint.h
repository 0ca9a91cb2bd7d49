// The folder of --checkpoint: what a long training has done so far, so that it can go on after a fault.
//
// It holds the sums of each task once they are made, and the state of the fit after every round. Both carry a
// fingerprint of the inputs and options they belong to: a folder of other ones is an error, never mixed in.
// A training that ends well takes its files away.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/bags/grouped_sums.h"
#include "bagwise/core/checkpoint.h"
#include "bagwise/core/result.h"
#include "cli/output.h"

namespace bagwise::cli {

class CheckpointFolder final : public Checkpoint {
 public:
  // Makes the folder where it is not there, in one that is. `fingerprint` tells trainings apart; `share` is
  // this rank's part of their files ("" where there is one only).
  static Result<CheckpointFolder> open(const std::string& folder, std::uint64_t fingerprint,
                                       const std::string& share);

  // The sums of a task, if they were saved.
  Result<std::optional<GroupedSums>> load_sums(const std::string& task) const;
  Result<void> save_sums(const std::string& task, const GroupedSums& sums) const;

  // The state of the fit.
  Result<void> save(std::string_view state) override;
  std::optional<std::string> load() override { return state_; }

  // After a training that ended well.
  [[nodiscard]] Result<void> remove() const;

 private:
  Result<void> read_state();
  [[nodiscard]] bool is_saved(std::string_view name) const;  // sums or state of this share
  [[nodiscard]] std::vector<std::filesystem::path> saved_files() const;
  [[nodiscard]] Result<void> check_ranks() const;
  [[nodiscard]] std::string file(const std::string& name) const;

  std::filesystem::path folder_;
  std::string share_;
  std::optional<std::string> state_;
};

// A fingerprint of files (by name, size and time of change) and of the words of a command line.
std::uint64_t fingerprint_of(const std::vector<std::string>& files, const std::vector<std::string>& words);

}  // namespace bagwise::cli
