// MpiCommunicator: ranks that are processes, on one machine or on many, started by mpirun or srun.
//
// No MPI type is seen outside this folder. Starting, ending and what is said to the user belong to main():
// the communicator tells it by the functions it was given.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bagwise/comm/communicator.h"

namespace bagwise {

class MpiCommunicator final : public Communicator {
  struct State;

 public:
  explicit MpiCommunicator(std::unique_ptr<State> state);  // what only start() has
  // Starts MPI, once in a process. `waiting` is called now and then while this rank waits for others; it may
  // throw, after which nothing but end_all() may be called.
  static std::unique_ptr<MpiCommunicator> start(std::function<void()> waiting);
  ~MpiCommunicator() override;  // does not end MPI: finalise() or end_all() does
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  [[nodiscard]] int rank() const override;
  [[nodiscard]] int size() const override;
  [[nodiscard]] std::string place() const override;  // "rank 2 on node-c"
  [[nodiscard]] int ranks_on_this_host() const;

  // Large arrays by slices: each rank adds one of them up in rank order, then all have all.
  void sum(std::span<double> values) override;
  std::vector<std::string> gather(std::string mine) override;
  std::vector<std::string> exchange(std::vector<std::string> to) override;
  void send(int to, std::string message) override;
  std::optional<Message> receive(std::chrono::milliseconds patience) override;

  // From now on a thread of its own finds ranks that have gone silent: a host that hangs, a network that was
  // cut. `lost` is then called on that thread, with "rank 2 on node-c has not been heard of for 30 s".
  // However long the ranks compute, they are heard of.
  void watch(std::chrono::milliseconds timeout, std::function<void(const std::string&)> lost);

  // What every rank says at its end, once all have come to it; nothing if they did not in time (no patience
  // given: this rank waits as long as it takes). Apart from all other calls, so that a rank may come here out
  // of the middle of a computation.
  std::optional<std::vector<std::string>> meet_at_end(const std::string& mine,
                                                      std::optional<std::chrono::milliseconds> patience);
  void finalise();           // after all ranks met
  void end_all(int status);  // aborts every rank; does not return if MPI can help it

 private:
  std::unique_ptr<State> state_;
};

}  // namespace bagwise
