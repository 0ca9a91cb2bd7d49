// Communicator: how ranks that share one computation add up and exchange what each has.
//
// An argument, never ambient. self.h is one rank alone, threads.h makes ranks of threads; no MPI type here.
// All but send() and receive() are collective: every rank makes the same calls in the same order.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bagwise {

class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // This rank as messages call it: "rank 2 on node7".
  [[nodiscard]] virtual std::string place() const = 0;

  // Replaces the values by their sum over all ranks, added in rank order: the same bits on every rank.
  virtual void sum(std::span<double> values) = 0;
  // What every rank gives, in the order of the ranks, on every rank. Lengths may differ.
  virtual std::vector<std::string> gather(std::string mine) = 0;
  // to[r] goes to rank r; returns what each rank had for this one, in the order of the ranks.
  virtual std::vector<std::string> exchange(std::vector<std::string> to) = 0;

  // One message to one rank, which need not be receiving yet. Messages between two ranks keep their order.
  virtual void send(int to, std::string message) = 0;
  struct Message {
    int from = 0;
    std::string bytes;
  };
  // The next message from any rank; nothing if none came in time.
  virtual std::optional<Message> receive(std::chrono::milliseconds patience) = 0;
};

}  // namespace bagwise
