// Checks the communicator over MPI against plain loops; run by ranks_test.py under mpirun.
//
// With the argument "speed" it prints how long a sum of 100,000 numbers takes instead.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bagwise/comm/agree.h"
#include "bagwise/core/random.h"
#include "mpi/mpi_communicator.h"

namespace {

using bagwise::Communicator;

int faults = 0;

void check(const Communicator& comm, bool good, const std::string& what) {
  if (good) return;
  ++faults;
  std::fputs(fmt::format("{}: {}\n", comm.place(), what).c_str(), stderr);
}

std::vector<double> values_of(int rank, std::size_t n) {
  bagwise::Rng rng(n, static_cast<std::uint64_t>(rank));
  std::vector<double> out(n);
  for (double& x : out) x = rng.normal() * std::exp(10 * rng.normal());
  return out;
}

// Same bits as adding in rank order, for arrays that are sent whole and for those that are cut into slices.
void check_sums(Communicator& comm) {
  for (const std::size_t n : {0U, 1U, 2U, 3U, 1024U, 1025U, 100000U, 1000003U}) {
    std::vector<double> expected = values_of(0, n);
    for (int r = 1; r < comm.size(); ++r) {
      const auto part = values_of(r, n);
      for (std::size_t i = 0; i < n; ++i) expected[i] += part[i];
    }
    for (int again = 0; again < 2; ++again) {
      auto mine = values_of(comm.rank(), n);
      comm.sum(mine);
      check(comm, n == 0 || std::memcmp(mine.data(), expected.data(), n * sizeof(double)) == 0,
            fmt::format("the sum of {} numbers has other bits than adding in rank order", n));
    }
  }
}

std::string text_of(int from, int to, std::size_t length) {
  std::string out(length, '\0');
  for (std::size_t i = 0; i < length; ++i)
    out[i] = static_cast<char>(i * 31 + static_cast<std::size_t>(7 * from + 3 * to));
  return out;
}

std::size_t length_of(int from, int to) {
  constexpr std::size_t kLengths[] = {0, 1, 5000, 3000000};
  return kLengths[(from + 2 * to) % 4];
}

void check_bytes(Communicator& comm) {
  const auto gathered = comm.gather(text_of(comm.rank(), 0, length_of(comm.rank(), 0)));
  std::vector<std::string> to;
  for (int r = 0; r < comm.size(); ++r) to.push_back(text_of(comm.rank(), r, length_of(comm.rank(), r)));
  const auto exchanged = comm.exchange(to);
  for (int r = 0; r < comm.size(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    check(comm, gathered[at] == text_of(r, 0, length_of(r, 0)), "gather gave other bytes");
    check(comm, exchanged[at] == text_of(r, comm.rank(), length_of(r, comm.rank())),
          "exchange gave other bytes");
  }
}

// Everybody sends to everybody before anybody receives; order is kept between two ranks.
void check_mail(Communicator& comm) {
  constexpr int kMessages = 30;
  for (int k = 0; k < kMessages; ++k) {
    for (int r = 0; r < comm.size(); ++r)
      comm.send(r, fmt::format("{}:{}", k, text_of(comm.rank(), r, k == 7 ? 2000000 : 10)));
  }
  std::vector<int> next(static_cast<std::size_t>(comm.size()), 0);
  for (int left = kMessages * comm.size(); left > 0; --left) {
    const auto message = comm.receive(std::chrono::milliseconds(30000));
    if (!message) {
      check(comm, false, "a message did not come");
      return;
    }
    int& k = next[static_cast<std::size_t>(message->from)];
    check(
        comm,
        message->bytes == fmt::format("{}:{}", k, text_of(message->from, comm.rank(), k == 7 ? 2000000 : 10)),
        "a message came as another, or out of order");
    ++k;
  }
  check(comm, !comm.receive(std::chrono::milliseconds(5)), "there was a message too many");
}

void check_agreement(Communicator& comm) {
  const bool last = comm.rank() == comm.size() - 1;
  const auto agreed = bagwise::agree(
      comm, last ? bagwise::Result<void>(bagwise::Error{"torn", "a.csv", 3}) : bagwise::Result<void>());
  check(comm, !agreed && agreed.error().text().starts_with("a.csv:3: torn"), "the fault was not agreed on");
}

void tell_speed(Communicator& comm) {
  std::vector<double> values(100000, 1.0);
  double best = 1e9;
  for (int i = 0; i < 300; ++i) {
    comm.gather("");
    const auto start = std::chrono::steady_clock::now();
    comm.sum(values);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  if (comm.rank() == 0) std::puts(fmt::format("{:.0f} us", best * 1e6).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const auto comm = bagwise::MpiCommunicator::start({});
  comm->watch(std::chrono::milliseconds(30000), [](const std::string&) {});
  if (argc > 1 && std::string(argv[1]) == "speed") {
    tell_speed(*comm);
  } else {
    check_sums(*comm);
    check_bytes(*comm);
    check_mail(*comm);
    check_agreement(*comm);
  }
  const auto all = comm->meet_at_end(fmt::format("{}", faults), std::nullopt);
  comm->finalise();
  return std::all_of(all->begin(), all->end(), [](const auto& text) { return text == "0"; }) ? 0 : 1;
}
