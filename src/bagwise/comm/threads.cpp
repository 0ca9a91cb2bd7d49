#include "bagwise/comm/threads.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace bagwise {
namespace {

struct Mailbox {
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<Communicator::Message> messages;
};

struct Meeting {
  explicit Meeting(int ranks)
      : everyone(ranks),
        parts{Parts(static_cast<std::size_t>(ranks)), Parts(static_cast<std::size_t>(ranks))},
        texts(static_cast<std::size_t>(ranks)),
        mail(static_cast<std::size_t>(ranks)) {}
  using Parts = std::vector<std::vector<double>>;  // one per rank
  std::barrier<> everyone;
  std::array<Parts, 2> parts;                   // of every other sum
  std::vector<std::vector<std::string>> texts;  // one per rank: what it has for all, or for each
  std::vector<Mailbox> mail;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(Meeting& meeting, int rank) : meeting_(meeting), rank_(static_cast<std::size_t>(rank)) {}

  [[nodiscard]] int rank() const override { return static_cast<int>(rank_); }
  [[nodiscard]] int size() const override { return static_cast<int>(meeting_.mail.size()); }
  [[nodiscard]] std::string place() const override { return fmt::format("rank {}", rank_); }

  void sum(std::span<double> values) override {
    // Nobody overwrites a part that another still reads: to come to the sum after the next, all have to meet
    // in the next one.
    auto& parts = meeting_.parts[sums_++ % 2];
    parts[rank_].assign(values.begin(), values.end());
    meeting_.everyone.arrive_and_wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      double total = parts[0][i];
      for (std::size_t r = 1; r < parts.size(); ++r) {
        assert(parts[r].size() == values.size());
        total += parts[r][i];
      }
      values[i] = total;
    }
  }

  std::vector<std::string> gather(std::string mine) override {
    meeting_.texts[rank_] = {std::move(mine)};
    meeting_.everyone.arrive_and_wait();
    std::vector<std::string> out;
    for (const auto& texts : meeting_.texts) out.push_back(texts[0]);
    meeting_.everyone.arrive_and_wait();
    return out;
  }

  std::vector<std::string> exchange(std::vector<std::string> to) override {
    assert(to.size() == meeting_.texts.size());
    meeting_.texts[rank_] = std::move(to);
    meeting_.everyone.arrive_and_wait();
    std::vector<std::string> out;
    for (const auto& texts : meeting_.texts) out.push_back(texts[rank_]);
    meeting_.everyone.arrive_and_wait();
    return out;
  }

  void send(int to, std::string message) override {
    Mailbox& box = meeting_.mail[static_cast<std::size_t>(to)];
    {
      const std::lock_guard lock(box.mutex);
      box.messages.push_back({rank(), std::move(message)});
    }
    box.arrived.notify_one();
  }

  std::optional<Message> receive(std::chrono::milliseconds patience) override {
    Mailbox& box = meeting_.mail[rank_];
    std::unique_lock lock(box.mutex);
    if (!box.arrived.wait_for(lock, patience, [&] { return !box.messages.empty(); })) return std::nullopt;
    Message next = std::move(box.messages.front());
    box.messages.pop_front();
    return next;
  }

 private:
  Meeting& meeting_;
  std::size_t rank_;
  std::size_t sums_ = 0;
};

}  // namespace

void run_thread_ranks(int ranks, const std::function<void(Communicator&)>& work) {
  assert(ranks >= 1);
  Meeting meeting(ranks);
  // A rank that could not be started would be waited for by the others: nobody begins before all are there.
  enum class Gate { kClosed, kOpen, kGivenUp };
  std::atomic<Gate> gate{Gate::kClosed};
  const auto settle = [&](Gate now) {
    gate = now;
    gate.notify_all();
  };
  std::vector<std::jthread> crew;
  try {
    for (int rank = 0; rank < ranks; ++rank) {
      crew.emplace_back([&meeting, &work, &gate, rank] {
        gate.wait(Gate::kClosed);
        if (gate == Gate::kGivenUp) return;
        ThreadCommunicator comm(meeting, rank);
        work(comm);
      });
    }
  } catch (...) {
    settle(Gate::kGivenUp);
    throw;
  }
  settle(Gate::kOpen);
}

}  // namespace bagwise
