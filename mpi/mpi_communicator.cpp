#include "mpi/mpi_communicator.h"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <deque>
#include <thread>
#include <utility>

#include "mpi/heartbeat.h"

namespace bagwise {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// MPI counts by int: longer messages go in pieces.
constexpr std::size_t kPieceBytes = std::size_t{1} << 28;
// Arrays up to here are sent whole to every rank, which takes one step instead of two.
constexpr std::size_t kSmallSum = 1024;

// Tags: what a message belongs to.
constexpr int kSumTag = 1, kSlicesTag = 2, kBytesTag = 3, kMailTag = 4, kPartTag = 5;

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "an unknown host";
  return name.data();
}

// Waits by asking: eagerly for a millisecond, in which a short answer comes, then ever more seldom, so that a
// rank that waits leaves its core to others.
class Patience {
 public:
  explicit Patience(const std::function<void()>& waiting) : waiting_(waiting) {}

  void pass() {
    const auto waited = Clock::now() - start_;
    if (waited < milliseconds(1)) {
      std::this_thread::yield();
      return;
    }
    if (waiting_) waiting_();
    std::this_thread::sleep_for(
        std::clamp<Clock::duration>(waited / 16, std::chrono::microseconds(50), milliseconds(2)));
  }

 private:
  const std::function<void()>& waiting_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

struct MpiCommunicator::State {
  MPI_Comm work = MPI_COMM_NULL, mail = MPI_COMM_NULL, end = MPI_COMM_NULL;
  int rank = 0, size = 1, ranks_here = 1;
  std::vector<std::string> places;
  std::function<void()> waiting;
  struct Sent {  // a message on its way: its bytes must stay
    std::string bytes;
    std::uint64_t length = 0;
    std::vector<MPI_Request> requests;
  };
  std::deque<std::unique_ptr<Sent>> sent;
  std::deque<Message> to_self;
  std::unique_ptr<Heartbeat> heartbeat;

  void wait(std::vector<MPI_Request>& requests) const {
    Patience patience(waiting);
    int done = 0;
    for (;;) {
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) break;
      patience.pass();
    }
    requests.clear();
  }

  template <class T>
  static void post(bool sending, T* data, std::size_t count, MPI_Datatype type, int other, int tag,
                   MPI_Comm comm, std::vector<MPI_Request>& requests) {
    constexpr std::size_t kPiece = kPieceBytes / sizeof(T);
    for (std::size_t from = 0; from < count; from += kPiece) {
      const int length = static_cast<int>(std::min(kPiece, count - from));
      requests.push_back(MPI_REQUEST_NULL);
      if (sending) {
        MPI_Isend(data + from, length, type, other, tag, comm, &requests.back());
      } else {
        MPI_Irecv(data + from, length, type, other, tag, comm, &requests.back());
      }
    }
  }
  void send_doubles(double* data, std::size_t count, int to, int tag, std::vector<MPI_Request>& r) const {
    post(true, data, count, MPI_DOUBLE, to, tag, work, r);
  }
  void receive_doubles(double* data, std::size_t count, int from, int tag,
                       std::vector<MPI_Request>& r) const {
    post(false, data, count, MPI_DOUBLE, from, tag, work, r);
  }

  // Messages that have arrived need not be kept any longer.
  void forget_arrived() {
    while (!sent.empty()) {
      int done = 0;
      auto& requests = sent.front()->requests;
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
      if (done == 0) break;
      sent.pop_front();
    }
  }

  // mine[r] (or mine[0] for all) goes to rank r; what came is returned.
  std::vector<std::string> trade(std::vector<std::string>& mine, bool same_for_all) {
    const auto n = static_cast<std::size_t>(size);
    const auto own = static_cast<std::size_t>(rank);
    std::vector<std::uint64_t> out_lengths(n), in_lengths(n);
    for (std::size_t r = 0; r < n; ++r) out_lengths[r] = mine[same_for_all ? 0 : r].size();
    std::vector<MPI_Request> requests(1, MPI_REQUEST_NULL);
    MPI_Ialltoall(out_lengths.data(), 1, MPI_UINT64_T, in_lengths.data(), 1, MPI_UINT64_T, work,
                  requests.data());
    wait(requests);
    std::vector<std::string> out(n);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == own) continue;
      out[r].resize(in_lengths[r]);
      post(false, out[r].data(), out[r].size(), MPI_BYTE, static_cast<int>(r), kBytesTag, work, requests);
    }
    for (std::size_t step = 1; step < n; ++step) {
      const std::size_t r = (own + step) % n;  // not all to rank 0 first
      std::string& bytes = mine[same_for_all ? 0 : r];
      post(true, bytes.data(), bytes.size(), MPI_BYTE, static_cast<int>(r), kBytesTag, work, requests);
    }
    wait(requests);
    out[own] = std::move(mine[same_for_all ? 0 : own]);
    return out;
  }
};

MpiCommunicator::MpiCommunicator(std::unique_ptr<State> state) : state_(std::move(state)) {}
MpiCommunicator::~MpiCommunicator() = default;

std::unique_ptr<MpiCommunicator> MpiCommunicator::start(std::function<void()> waiting) {
  auto state = std::make_unique<State>();
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  state->waiting = std::move(waiting);
  MPI_Comm_dup(MPI_COMM_WORLD, &state->work);
  MPI_Comm_dup(MPI_COMM_WORLD, &state->mail);
  MPI_Comm_dup(MPI_COMM_WORLD, &state->end);
  MPI_Comm_rank(state->work, &state->rank);
  MPI_Comm_size(state->work, &state->size);
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(state->work, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &state->ranks_here);
  MPI_Comm_free(&here);
  std::vector<std::string> mine = {fmt::format("rank {} on {}", state->rank, host_name())};
  state->places = state->trade(mine, true);
  if (level == MPI_THREAD_MULTIPLE && state->size > 1) {
    MPI_Comm beats = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &beats);
    state->heartbeat = std::make_unique<Heartbeat>(beats, state->places);
  }
  return std::make_unique<MpiCommunicator>(std::move(state));
}

int MpiCommunicator::rank() const { return state_->rank; }
int MpiCommunicator::size() const { return state_->size; }
int MpiCommunicator::ranks_on_this_host() const { return state_->ranks_here; }
std::string MpiCommunicator::place() const { return state_->places[static_cast<std::size_t>(rank())]; }

void MpiCommunicator::sum(std::span<double> values) {
  if (size() == 1 || values.empty()) return;
  State& s = *state_;
  const auto n = static_cast<std::size_t>(size());
  const auto own = static_cast<std::size_t>(rank());
  std::vector<MPI_Request> requests;
  // The part that this rank adds up: all of a short array, else its slice.
  const bool whole = values.size() <= kSmallSum;
  const auto begin_of = [&](std::size_t r) { return values.size() * r / n; };
  const std::size_t begin = whole ? 0 : begin_of(own);
  const std::size_t length = (whole ? values.size() : begin_of(own + 1)) - begin;
  std::vector<double> parts(n * length);
  for (std::size_t r = 0; r < n; ++r) {
    if (r != own) s.receive_doubles(&parts[r * length], length, static_cast<int>(r), kSumTag, requests);
  }
  for (std::size_t step = 1; step < n; ++step) {
    const std::size_t r = (own + step) % n;
    const std::size_t from = whole ? 0 : begin_of(r);
    const std::size_t to = whole ? values.size() : begin_of(r + 1);
    s.send_doubles(values.data() + from, to - from, static_cast<int>(r), kSumTag, requests);
  }
  std::copy_n(values.data() + begin, length, parts.data() + own * length);
  s.wait(requests);
  for (std::size_t i = 0; i < length; ++i) {
    double total = parts[i];
    for (std::size_t r = 1; r < n; ++r) total += parts[r * length + i];
    values[begin + i] = total;
  }
  if (whole) return;
  for (std::size_t step = 1; step < n; ++step) {
    const std::size_t r = (own + step) % n;
    s.receive_doubles(values.data() + begin_of(r), begin_of(r + 1) - begin_of(r), static_cast<int>(r),
                      kSlicesTag, requests);
    s.send_doubles(values.data() + begin, length, static_cast<int>(r), kSlicesTag, requests);
  }
  s.wait(requests);
}

std::vector<std::string> MpiCommunicator::gather(std::string mine) {
  std::vector<std::string> bytes;
  bytes.push_back(std::move(mine));
  return state_->trade(bytes, true);
}

std::vector<std::string> MpiCommunicator::exchange(std::vector<std::string> to) {
  assert(to.size() == static_cast<std::size_t>(size()));
  return state_->trade(to, false);
}

// A message is its length, then its bytes in pieces. Both tags keep the order of sending.
void MpiCommunicator::send(int to, std::string message) {
  State& s = *state_;
  s.forget_arrived();
  if (to == rank()) {
    s.to_self.push_back({to, std::move(message)});
    return;
  }
  auto item = std::make_unique<State::Sent>();
  item->bytes = std::move(message);
  item->length = item->bytes.size();
  State::post(true, &item->length, 1, MPI_UINT64_T, to, kMailTag, s.mail, item->requests);
  State::post(true, item->bytes.data(), item->bytes.size(), MPI_BYTE, to, kPartTag, s.mail, item->requests);
  s.sent.push_back(std::move(item));
}

std::optional<Communicator::Message> MpiCommunicator::receive(milliseconds patience) {
  State& s = *state_;
  const auto until = Clock::now() + patience;
  Patience waiting(s.waiting);
  for (;;) {
    s.forget_arrived();
    if (!s.to_self.empty()) {
      Message next = std::move(s.to_self.front());
      s.to_self.pop_front();
      return next;
    }
    int there = 0;
    MPI_Status status{};
    MPI_Iprobe(MPI_ANY_SOURCE, kMailTag, s.mail, &there, &status);
    if (there != 0) {
      Message next{status.MPI_SOURCE, {}};
      std::uint64_t length = 0;
      std::vector<MPI_Request> requests;
      State::post(false, &length, 1, MPI_UINT64_T, next.from, kMailTag, s.mail, requests);
      s.wait(requests);
      next.bytes.resize(length);
      State::post(false, next.bytes.data(), length, MPI_BYTE, next.from, kPartTag, s.mail, requests);
      s.wait(requests);
      return next;
    }
    if (Clock::now() >= until) return std::nullopt;
    waiting.pass();
  }
}

void MpiCommunicator::watch(milliseconds timeout, std::function<void(const std::string&)> lost) {
  if (state_->heartbeat) state_->heartbeat->start(timeout, std::move(lost));
}

std::optional<std::vector<std::string>> MpiCommunicator::meet_at_end(const std::string& mine,
                                                                     std::optional<milliseconds> patience) {
  State& s = *state_;
  const auto n = static_cast<std::size_t>(size());
  constexpr std::size_t kLongest = 4096;  // of what a rank says: one message
  std::string padded = mine.substr(0, kLongest - 1);
  padded.resize(kLongest, '\0');
  std::string all(n * kLongest, '\0');
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(padded.data(), static_cast<int>(kLongest), MPI_CHAR, all.data(), static_cast<int>(kLongest),
                 MPI_CHAR, s.end, &request);
  const auto until = Clock::now() + patience.value_or(milliseconds(0));
  Patience waiting(s.waiting);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) break;
    if (patience && Clock::now() >= until) return std::nullopt;
    waiting.pass();
  }
  std::vector<std::string> out;
  for (std::size_t r = 0; r < n; ++r) out.emplace_back(&all[r * kLongest]);
  return out;
}

void MpiCommunicator::finalise() {
  if (state_->heartbeat) state_->heartbeat->stop();
  MPI_Finalize();
}

void MpiCommunicator::end_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

}  // namespace bagwise
