// Heartbeat: small messages between rank 0 and every other rank, which tell that a rank and its network live.
//
// Only for mpi/: it sees MPI's types.
#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace bagwise {

class Heartbeat {
 public:
  // `comm` is for nothing else. `places` are the ranks as messages call them.
  Heartbeat(MPI_Comm comm, std::vector<std::string> places);

  // Calls `lost` once, on the thread that listens, when a rank was silent for so long.
  void start(std::chrono::milliseconds timeout, std::function<void(const std::string&)> lost);
  void stop();

 private:
  struct Peer {
    int rank = 0;
    char sent = 0, received = 0;
    MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
    std::chrono::steady_clock::time_point heard, told;
  };
  void run(const std::stop_token& stop);
  void beat(Peer& peer) const;

  MPI_Comm comm_;
  std::vector<std::string> places_;
  std::chrono::milliseconds timeout_{0};
  std::function<void(const std::string&)> lost_;
  std::vector<Peer> peers_;  // rank 0: all others; others: rank 0
  std::jthread listener_;
};

}  // namespace bagwise
