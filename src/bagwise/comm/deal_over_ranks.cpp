#include "bagwise/comm/deal_over_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bagwise/core/parallel.h"

namespace bagwise {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::chrono::milliseconds kLook(20);

// Messages to rank 0: kWant (a piece), kDone (piece, steps, result), kDropped (piece), kStop, kBye. From it:
// kPiece (or kNone in it: there are no more), kStop, kBye (steps 1: all pieces were taken).
enum class Kind : char { kWant, kDone, kDropped, kPiece, kStop, kBye };

std::string message_of(Kind kind, std::size_t piece = kNone, std::size_t steps = 0,
                       const std::string& rest = {}) {
  std::string out(1 + 2 * sizeof(std::size_t), static_cast<char>(kind));
  std::memcpy(out.data() + 1, &piece, sizeof piece);
  std::memcpy(out.data() + 1 + sizeof piece, &steps, sizeof steps);
  return out + rest;
}

struct Note {
  Kind kind = Kind::kBye;
  std::size_t piece = kNone, steps = 0;
  std::string rest;
};

Note note_of(const std::string& message) {
  Note out;
  out.kind = static_cast<Kind>(message[0]);
  std::memcpy(&out.piece, message.data() + 1, sizeof out.piece);
  std::memcpy(&out.steps, message.data() + 1 + sizeof out.piece, sizeof out.steps);
  out.rest = message.substr(1 + 2 * sizeof(std::size_t));
  return out;
}

struct Finished {
  std::size_t piece = 0, steps = 0;
  std::optional<std::string> result;
};

// The threads of one rank: they take pieces from a queue that the rank's own thread fills.
class Crew {
 public:
  Crew(std::size_t threads, const DealtWork& work) : work_(work) {
    threads_ = start_helpers(threads, [this] { labour(); });
    // One there must be: this rank's own thread talks to the others.
    if (threads_.empty()) threads_.emplace_back([this] { labour(); });
  }
  ~Crew() {
    {
      const std::lock_guard lock(mutex_);
      watched.stop = true;
      closed_ = true;
    }
    changed_.notify_all();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  Watched watched;

  [[nodiscard]] std::size_t threads() const { return threads_.size(); }
  void give(std::size_t piece) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(piece);
    }
    changed_.notify_one();
  }
  // What was finished since the last time; what a piece threw is thrown.
  std::vector<Finished> collect() {
    const std::lock_guard lock(mutex_);
    if (thrown_) std::rethrow_exception(thrown_);
    return std::exchange(finished_, {});
  }

 private:
  void labour() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closed_ || !queue_.empty(); });
      if (queue_.empty() || thrown_) return;
      const std::size_t piece = queue_.front();
      queue_.pop_front();
      lock.unlock();
      Finished out{piece, 0, {}};
      try {
        out.result = work_.run(piece, watched);
        lock.lock();
      } catch (...) {
        lock.lock();
        thrown_ = std::current_exception();
      }
      finished_.push_back(std::move(out));
    }
  }

  const DealtWork& work_;
  std::mutex mutex_;  // guards all that follows
  std::condition_variable changed_;
  std::deque<std::size_t> queue_;
  std::vector<Finished> finished_;
  std::exception_ptr thrown_;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

// Rank 0: deals to itself and to others, and takes all results.
bool deal(Communicator& comm, std::size_t pieces, Crew& crew, std::string_view phase, std::size_t total,
          const Observer& observer, const DealtWork& work) {
  std::size_t next = 0, taken = 0, own = 0, steps_elsewhere = 0;
  bool told_stop = false;
  int away = comm.size() - 1;
  const auto take = [&](std::size_t piece, const std::optional<std::string>& result) {
    if (!result) return;
    ++taken;
    if (!work.take(piece, *result)) crew.watched.stop = true;
  };
  for (;;) {
    const Progress progress{phase, static_cast<double>(crew.watched.steps + steps_elsewhere),
                            static_cast<double>(total)};
    if (tell(observer, progress) == Next::kStop) crew.watched.stop = true;
    if (crew.watched.stop && !told_stop) {
      told_stop = true;
      for (int r = 1; r < comm.size(); ++r) comm.send(r, message_of(Kind::kStop));
    }
    while (own < crew.threads() && next < pieces && !crew.watched.stop) {
      crew.give(next++);
      ++own;
    }
    for (const Finished& one : crew.collect()) {
      --own;
      take(one.piece, one.result);
    }
    if (own == 0 && away == 0 && (next == pieces || crew.watched.stop)) break;
    // With nobody else to hear of, a short sleep; a piece that was finished here is seen after it.
    const auto message = comm.receive(own > 0 ? std::chrono::milliseconds(2) : kLook);
    if (!message) continue;
    Note note = note_of(message->bytes);
    if (note.kind == Kind::kBye) --away;
    if (note.kind == Kind::kStop) crew.watched.stop = true;
    if (note.kind == Kind::kDone) {
      steps_elsewhere += note.steps;
      take(note.piece, std::move(note.rest));
    }
    if (note.kind == Kind::kWant) {
      const bool more = next < pieces && !crew.watched.stop;
      comm.send(message->from, message_of(Kind::kPiece, more ? next++ : kNone));
    }
  }
  // The last word is rank 0's: whoever has heard it has heard all that was said before.
  for (int r = 1; r < comm.size(); ++r) comm.send(r, message_of(Kind::kBye, kNone, taken == pieces ? 1 : 0));
  return taken == pieces;
}

// Any other rank: asks for a piece for every thread that is free.
bool labour_for(Communicator& comm, Crew& crew, const Observer& observer) {
  std::size_t working = 0, asked = crew.threads(), steps = 0;
  bool told_stop = false;
  for (std::size_t k = 0; k < asked; ++k) comm.send(0, message_of(Kind::kWant));
  while (working > 0 || asked > 0) {
    if (tell(observer, {}) == Next::kStop) crew.watched.stop = true;
    if (crew.watched.stop && !told_stop) {
      told_stop = true;
      comm.send(0, message_of(Kind::kStop));
    }
    for (const Finished& one : crew.collect()) {
      --working;
      const std::size_t now = crew.watched.steps;
      comm.send(0, one.result ? message_of(Kind::kDone, one.piece, now - steps, *one.result)
                              : message_of(Kind::kDropped, one.piece));
      steps = now;
      comm.send(0, message_of(Kind::kWant));
      ++asked;
    }
    const auto message = comm.receive(std::chrono::milliseconds(2));
    if (!message) continue;
    const Note note = note_of(message->bytes);
    if (note.kind == Kind::kStop) {
      told_stop = true;
      crew.watched.stop = true;
    } else {
      --asked;
      if (note.piece != kNone) {
        ++working;
        crew.give(note.piece);
      }
    }
  }
  comm.send(0, message_of(Kind::kBye));
  for (;;) {
    const auto message = comm.receive(kLook);
    if (!message) continue;
    const Note note = note_of(message->bytes);
    if (note.kind == Kind::kBye) return note.steps == 1;
  }
}

}  // namespace

bool deal_over_ranks(Communicator& comm, std::size_t pieces, unsigned threads, std::string_view phase,
                     std::size_t total, const Observer& observer, const DealtWork& work) {
  const std::size_t wanted = threads == 0 ? default_threads() : threads;
  Crew crew(std::max<std::size_t>(1, std::min(pieces, wanted)), work);
  if (comm.rank() == 0) return deal(comm, pieces, crew, phase, total, observer, work);
  return labour_for(comm, crew, observer);
}

}  // namespace bagwise
