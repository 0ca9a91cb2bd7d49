#include "mpi/heartbeat.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bagwise {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPause(100);  // between two looks

}  // namespace

Heartbeat::Heartbeat(MPI_Comm comm, std::vector<std::string> places)
    : comm_(comm), places_(std::move(places)) {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  for (int r = 0; r < static_cast<int>(places_.size()); ++r) {
    if (r != rank && (rank == 0 || r == 0)) {
      peers_.emplace_back();
      peers_.back().rank = r;
    }
  }
}

void Heartbeat::start(std::chrono::milliseconds timeout, std::function<void(const std::string&)> lost) {
  timeout_ = timeout;
  lost_ = std::move(lost);
  for (Peer& peer : peers_) {
    MPI_Irecv(&peer.received, 1, MPI_CHAR, peer.rank, 0, comm_, &peer.receiving);
    peer.heard = Clock::now();
  }
  listener_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Heartbeat::beat(Peer& peer) const {
  const auto now = Clock::now();
  int done = 0;
  MPI_Test(&peer.receiving, &done, MPI_STATUS_IGNORE);
  if (done != 0) {
    peer.heard = now;
    MPI_Irecv(&peer.received, 1, MPI_CHAR, peer.rank, 0, comm_, &peer.receiving);
  }
  MPI_Test(&peer.sending, &done, MPI_STATUS_IGNORE);
  const auto pause = std::min<Clock::duration>(timeout_ / 6, std::chrono::seconds(2));
  if (done != 0 && now - peer.told >= pause) {
    MPI_Isend(&peer.sent, 1, MPI_CHAR, peer.rank, 0, comm_, &peer.sending);
    peer.told = now;
  }
}

void Heartbeat::run(const std::stop_token& stop) {
  auto before = Clock::now();
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(kPause);
    const auto now = Clock::now();
    // Who slept himself (stopped by a signal, a suspended machine) must not blame the others.
    const auto late = now - before - kPause;
    before = now;
    for (Peer& peer : peers_) {
      if (late > timeout_ / 6) peer.heard += late;
      beat(peer);
      if (now - peer.heard < timeout_) continue;
      lost_(fmt::format("{} has not been heard of for {:.3g} s", places_[static_cast<std::size_t>(peer.rank)],
                        std::chrono::duration<double>(timeout_).count()));
      return;
    }
  }
}

void Heartbeat::stop() {
  if (!listener_.joinable()) return;
  listener_.request_stop();
  listener_.join();
  for (Peer& peer : peers_) {
    // A last message may still come, which nobody waits for; one of a byte is on its way by itself.
    MPI_Cancel(&peer.receiving);
    MPI_Request_free(&peer.receiving);
    if (peer.sending != MPI_REQUEST_NULL) MPI_Request_free(&peer.sending);
  }
}

}  // namespace bagwise
