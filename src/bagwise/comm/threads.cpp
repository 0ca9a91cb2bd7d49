#include "bagwise/comm/threads.h"

#include <barrier>
#include <cassert>
#include <thread>
#include <vector>

namespace bagwise {
namespace {

struct Meeting {
  explicit Meeting(int ranks) : everyone(ranks), parts(static_cast<std::size_t>(ranks)) {}
  std::barrier<> everyone;
  std::vector<std::vector<double>> parts;  // one per rank
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(meeting_.parts.size()); }

  void sum(std::span<double> values) override {
    meeting_.parts[static_cast<std::size_t>(rank_)].assign(values.begin(), values.end());
    meeting_.everyone.arrive_and_wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      double total = meeting_.parts[0][i];
      for (std::size_t r = 1; r < meeting_.parts.size(); ++r) {
        assert(meeting_.parts[r].size() == values.size());
        total += meeting_.parts[r][i];
      }
      values[i] = total;
    }
    meeting_.everyone.arrive_and_wait();  // nobody overwrites a part that another still reads
  }

 private:
  Meeting& meeting_;
  int rank_;
};

}  // namespace

void run_thread_ranks(int ranks, const std::function<void(Communicator&)>& work) {
  assert(ranks >= 1);
  Meeting meeting(ranks);
  std::vector<std::jthread> crew;
  for (int rank = 0; rank < ranks; ++rank) {
    crew.emplace_back([&meeting, &work, rank] {
      ThreadCommunicator comm(meeting, rank);
      work(comm);
    });
  }
}

}  // namespace bagwise
