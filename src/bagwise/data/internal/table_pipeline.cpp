#include "bagwise/data/internal/table_pipeline.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bagwise/core/parallel.h"

namespace bagwise::internal {
namespace {

// How long the folding thread waits for others before it asks the observer whether to go on.
constexpr std::chrono::milliseconds kPatience{200};

// What became of one chunk.
struct Outcome {
  bool ready = false;
  bool last = false;  // there was no such chunk: the file had ended
  ParsedChunk parsed;
  std::unique_ptr<RowSink> sink;
  std::shared_ptr<PartReader> part;
  std::uint64_t consumed = 0;
  std::optional<Error> read_error;
  std::exception_ptr thrown;
};

// A table must not use both 0 and -1 for "negative": finds the first line where the second of them shows.
class LabelWatch {
 public:
  // A conflict in this chunk, as a line of the chunk.
  std::optional<std::uint64_t> conflict(const ParsedChunk& chunk) {
    const auto both = [](bool before, const auto& now, bool other_before, const auto& other_now) {
      std::optional<std::uint64_t> at;
      if (other_before && now) at = *now;
      if (before && other_now) at = *other_now;
      if (now && other_now && !before && !other_before) at = std::max(*now, *other_now);
      return at;
    };
    const auto at = both(zero_, chunk.zero_label, minus_, chunk.minus_label);
    zero_ = zero_ || chunk.zero_label.has_value();
    minus_ = minus_ || chunk.minus_label.has_value();
    return at;
  }

 private:
  bool zero_ = false, minus_ = false;
};

class Pipeline {
 public:
  Pipeline(const NextPiece& next, const PipelineWork& work, const Observer& observer)
      : next_(next), work_(work), observer_(observer) {
    threads_ = work.threads == 0 ? default_threads() : work.threads;
    // Two more than there are threads: enough that nobody waits while this thread parses before it folds.
    ring_.resize(threads_ == 1 ? 1 : threads_ + 2);
  }

  Result<std::uint64_t> run() {
    // Destroyed in the reverse order: the crew is told to stop before it is waited for, also if fold throws.
    std::vector<std::jthread> crew;
    struct StopAtExit {
      Pipeline& pipeline;
      ~StopAtExit() { pipeline.stop(); }
    } const guard{*this};
    crew = start_helpers(threads_ - 1, [this] { help(); });
    for (;;) {
      std::optional<Outcome> outcome = next_outcome();
      if (!outcome) {
        if (told_to_stop_) return stopped();
        continue;
      }
      if (outcome->thrown) std::rethrow_exception(outcome->thrown);
      if (outcome->last) return rows_;
      if (auto folded = fold(*outcome); !folded) return folded.error();
      consumed_ = outcome->consumed;
      if (ask() == Next::kStop) return stopped();
    }
  }

 private:
  // Called on the folding thread only, without the lock.
  Next ask() {
    const Progress progress{work_.phase, static_cast<double>(consumed_), static_cast<double>(work_.total)};
    const Next next = tell(observer_, progress);
    told_to_stop_ = told_to_stop_ || next == Next::kStop;
    return next;
  }
  [[nodiscard]] Error stopped() const { return {"reading was stopped", work_.file}; }

  // What a thread does that waits for bytes: the folding thread asks the observer, the others look whether it
  // has given up meanwhile.
  Next while_waiting() {
    if (std::this_thread::get_id() == folding_thread_) return ask();
    const std::lock_guard lock(mutex_);
    return stopped_ ? Next::kStop : Next::kContinue;
  }

  // Called on the folding thread: the next outcome in order, or none after having parsed a chunk or asked the
  // observer meanwhile.
  std::optional<Outcome> next_outcome() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Outcome& next = ring_[folded_ % ring_.size()];
      if (next.ready) {
        Outcome out = std::exchange(next, {});
        ++folded_;
        lock.unlock();
        changed_.notify_all();
        return out;
      }
      if (can_take()) {
        parse_one(lock);
        return {};
      }
      if (changed_.wait_for(lock, kPatience) == std::cv_status::timeout) {
        lock.unlock();
        ask();
        return {};
      }
    }
  }

  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopped_ || no_more_ || can_take(); });
      if (stopped_ || no_more_) return;
      parse_one(lock);
    }
  }

  [[nodiscard]] bool can_take() const {
    return !stopped_ && !no_more_ && !taking_ && taken_ - folded_ < ring_.size();
  }

  // Takes one chunk (one thread at a time: reading and unpacking are serial) and parses it; locked on entry
  // and on return, not meanwhile.
  void parse_one(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t number = taken_++;
    taking_ = true;
    lock.unlock();
    Outcome outcome;
    Piece piece;
    bool got = false;
    try {
      got = take(piece, outcome);
    } catch (...) {
      outcome.thrown = std::current_exception();
    }
    lock.lock();
    taking_ = false;
    no_more_ = no_more_ || !got;
    lock.unlock();
    changed_.notify_all();
    if (got) {
      try {
        outcome.sink = work_.make();
        outcome.parsed = piece.part->parse(piece.chunk, *outcome.sink);
        if (!outcome.parsed.fault) outcome.sink->end();
        piece.part->recycle(std::move(piece.chunk));
        outcome.part = std::move(piece.part);
      } catch (...) {
        outcome.thrown = std::current_exception();
      }
    }
    outcome.ready = true;
    lock.lock();
    ring_[number % ring_.size()] = std::move(outcome);
    lock.unlock();
    changed_.notify_all();
    lock.lock();
  }

  bool take(Piece& piece, Outcome& outcome) {
    auto next = next_(piece, [this] { return while_waiting(); });
    if (!next) {
      outcome.read_error = next.error();
      return false;
    }
    outcome.last = !*next;
    outcome.consumed = piece.chunk.consumed;
    return *next;
  }

  Result<void> fold(Outcome& outcome) {
    if (outcome.read_error) return *outcome.read_error;
    ParsedChunk& parsed = outcome.parsed;
    if (part_ != outcome.part) {
      part_ = outcome.part;
      lines_ = 0;
    }
    const std::string& file = part_->file;
    const std::uint64_t first_line = part_->first_line + lines_;
    const auto conflict = labels_.conflict(parsed);
    if (conflict && (!parsed.fault || *conflict <= parsed.fault->line)) {
      return Error{"labels 0 and -1 are both used for negatives; expected either 0 and 1, or -1 and 1", file,
                   first_line + *conflict, parsed.label_column};
    }
    if (parsed.fault) {
      return Error{std::move(parsed.fault->message), file,
                   parsed.fault->line == kNoLine ? 0 : first_line + parsed.fault->line,
                   std::move(parsed.fault->column)};
    }
    const BlockPlace place{parsed.rows, rows_, first_line, file};
    rows_ += parsed.rows;
    lines_ += parsed.lines;
    return work_.fold(std::move(outcome.sink), place);
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

  const NextPiece& next_;
  const PipelineWork& work_;
  const Observer& observer_;
  const std::thread::id folding_thread_ = std::this_thread::get_id();
  unsigned threads_ = 1;

  std::mutex mutex_;  // guards what follows up to the gap
  std::condition_variable changed_;
  std::vector<Outcome> ring_;  // chunk i lies in ring_[i % size] from when it is parsed until it is folded
  std::uint64_t taken_ = 0, folded_ = 0;
  bool taking_ = false, no_more_ = false, stopped_ = false;

  std::uint64_t rows_ = 0, lines_ = 0, consumed_ = 0;  // folded; the folding thread only, as what follows
  std::shared_ptr<PartReader> part_;                   // the last that something was folded of
  bool told_to_stop_ = false;
  LabelWatch labels_;
};

}  // namespace

Result<std::uint64_t> run_pipeline(const NextPiece& next, const PipelineWork& work,
                                   const Observer& observer) {
  return Pipeline(next, work, observer).run();
}

}  // namespace bagwise::internal
