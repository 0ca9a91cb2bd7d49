// What a tuning has done so far, on disk: stopped at any moment, the same command goes on from there.
//
// One line of JSON per finished path on a fold, appended at once and synced every second; the first line says
// for which data and folds they hold. A last line that is not whole is what a crash leaves: it is passed
// over.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "bagwise/core/line_file.h"
#include "bagwise/core/result.h"
#include "bagwise/core/timing.h"
#include "bagwise/evaluate/tuning.h"

namespace bagwise {

// Of all that decides what a piece of a tuning comes to, but for its settings: the data, how folds are dealt,
// the criterion, and whether planes are kept.
std::string tuning_fingerprint(std::span<const TrainingTask> tasks, const TuneOptions& options,
                               std::uint64_t seed);

class TuningJournal {
  struct Made {};  // what only open() has

 public:
  // Reads what is there for this fingerprint; a journal for another is replaced. Errors: a file that is no
  // journal, or cannot be written.
  static Result<std::unique_ptr<TuningJournal>> open(const std::string& path, const std::string& fingerprint);
  TuningJournal(Made, std::string path, LineFile file) : path_(std::move(path)), file_(std::move(file)) {}

  [[nodiscard]] std::size_t found() const { return found_; }  // settings times folds done before
  [[nodiscard]] std::size_t added() const { return added_; }
  // Recalls what was found, and appends what is kept. It must outlive what uses it.
  Memory memory();
  // The first fault of appending, if there was one: the tuning itself goes on without.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  // The tuning is done, or nothing was: the file is taken away.
  void remove();

 private:
  void append(const std::string& key, const PathOutcome& outcome);

  std::string path_, fault_;
  LineFile file_;
  std::map<std::string, PathOutcome> known_;
  std::size_t found_ = 0, added_ = 0;
  Stopwatch since_sync_;
};

}  // namespace bagwise
