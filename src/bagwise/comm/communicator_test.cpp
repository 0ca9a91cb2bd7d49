#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <mutex>
#include <set>
#include <vector>

#include "bagwise/comm/self.h"
#include "bagwise/comm/threads.h"
#include "bagwise/core/random.h"

namespace {

using bagwise::Communicator;

std::vector<double> values_of(int rank, std::size_t n) {
  bagwise::Rng rng(99, static_cast<std::uint64_t>(rank));
  std::vector<double> out(n);
  for (double& x : out) x = rng.normal();
  return out;
}

}  // namespace

TEST_CASE("comm: thread ranks all get the sum in rank order, bit for bit", "[comm][threads][spmd]") {
  for (const int ranks : {1, 2, 4}) {
    for (const std::size_t n : {0U, 1U, 1000U}) {
      std::vector<double> expected = values_of(0, n);
      for (int r = 1; r < ranks; ++r) {
        const auto part = values_of(r, n);
        for (std::size_t i = 0; i < n; ++i) expected[i] += part[i];
      }
      std::vector<std::vector<double>> got(static_cast<std::size_t>(ranks));
      bagwise::run_thread_ranks(ranks, [&](Communicator& comm) {
        auto mine = values_of(comm.rank(), n);
        comm.sum(mine);
        got[static_cast<std::size_t>(comm.rank())] = mine;
      });
      for (const auto& values : got) CHECK(values == expected);
    }
  }
}

TEST_CASE("comm: every rank is there once and knows how many there are", "[comm][threads][spmd]") {
  for (const int ranks : {1, 2, 4}) {
    std::mutex lock;
    std::multiset<int> seen;
    bagwise::run_thread_ranks(ranks, [&](Communicator& comm) {
      const std::lock_guard guard(lock);
      seen.insert(comm.size() == ranks ? comm.rank() : -1);
    });
    std::multiset<int> expected;
    for (int r = 0; r < ranks; ++r) expected.insert(r);
    CHECK(seen == expected);
  }
}

TEST_CASE("comm: sums one after the other do not mix", "[comm][threads][spmd]") {
  std::atomic<int> wrong{0};
  bagwise::run_thread_ranks(4, [&](Communicator& comm) {
    for (int round = 0; round < 200; ++round) {
      // Lengths change from round to round: a rank that runs ahead must not disturb the others.
      std::vector<double> values(static_cast<std::size_t>(1 + round % 7), comm.rank() + round);
      comm.sum(values);
      for (const double x : values) wrong += x != 6 + 4 * round;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("comm: one rank gives the same bits as no ranks at all", "[comm][self]") {
  std::vector<double> alone = {1.5, -0.0, 3};
  bagwise::SelfCommunicator self;
  self.sum(alone);
  CHECK(self.rank() == 0);
  CHECK(self.size() == 1);
  CHECK(alone == std::vector<double>{1.5, -0.0, 3});
  std::vector<double> one = {1.5, -0.0, 3};
  bagwise::run_thread_ranks(1, [&](Communicator& comm) { comm.sum(one); });
  CHECK(one == alone);
  CHECK(std::signbit(one[1]) == std::signbit(alone[1]));
}
