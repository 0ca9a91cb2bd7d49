#include "cli/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "bagwise/core/parallel.h"
#include "bagwise/report/table.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#ifdef BAGWISE_HAS_MPI
#include "mpi/mpi_communicator.h"
#else
namespace bagwise {
class MpiCommunicator {};
}  // namespace bagwise
#endif

namespace bagwise::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLongestLine = 2000;

// What a launcher tells of how many ranks there are; nothing: there was none.
std::optional<int> ranks_started() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    int value = 0;
    std::from_chars(text, text + std::strlen(text), value);
    if (value > 0) return value;
  }
  if (std::getenv("PMIX_RANK") == nullptr) return std::nullopt;
  const char* tasks = std::getenv("SLURM_NTASKS");  // PMIx itself tells the number to whoever asks it
  int value = 0;
  if (tasks != nullptr) std::from_chars(tasks, tasks + std::strlen(tasks), value);
  return std::max(value, 1);
}

#ifdef BAGWISE_HAS_MPI

constexpr double kDefaultTimeout = 30;

// How long a rank may be silent, in seconds.
Result<double> rank_timeout() {
  const char* text = std::getenv("BAGWISE_RANK_TIMEOUT");
  if (text == nullptr) return kDefaultTimeout;
  char* rest = nullptr;
  const double value = std::strtod(text, &rest);
  if (rest == text || *rest != '\0' || !(value >= 1 && value <= 1e6))
    return Error{fmt::format("BAGWISE_RANK_TIMEOUT is \"{}\"; expected seconds from 1 to 1000000", text)};
  return value;
}

// Ends this process in a while, whatever its other threads are stuck in.
void end_in(milliseconds patience, int status) {
  std::thread([patience, status] {
    std::this_thread::sleep_for(patience);
    _exit(status);
  }).detach();
}

// A signal reaches ranks at different places: one that waits for a rank that has stopped would wait forever.
// Work that notices by itself is given some time for that.
class SignalPatience {
 public:
  void look() {
    if (interrupted() == 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (!since_) since_ = now;
    if (now - *since_ > milliseconds(200)) throw Interrupted();
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> since_;
};

#endif

}  // namespace

void complain(const std::string& message) noexcept {
  try {
    std::fputs(fmt::format("bagwise: {}\n", printable(message, kLongestLine)).c_str(), stderr);
  } catch (const std::bad_alloc&) {
    for (const char* part : {"bagwise: ", kOutOfMemory, "\n"}) std::fputs(part, stderr);
  }
  std::fflush(stderr);
}

Ranks::Ranks() = default;
Ranks::~Ranks() = default;

#ifdef BAGWISE_HAS_MPI

Result<void> Ranks::join() {
  if (!ranks_started()) return {};
  const auto timeout = rank_timeout();
  comm_ = MpiCommunicator::start([patience = SignalPatience()]() mutable { patience.look(); });
  if (comm_->rank() != 0) be_silent();
  if (!timeout) return timeout.error();
  comm_->watch(milliseconds(static_cast<std::int64_t>(*timeout * 1000)), [this](const std::string& lost) {
    complain(fmt::format("{} (told by {}); all ranks are ended", lost, comm_->place()));
    end_in(milliseconds(2000), 2);  // with a network that was cut MPI may never come back
    comm_->end_all(2);
    _exit(2);
  });
  return {};
}

Communicator* Ranks::comm() const { return comm_.get(); }

unsigned Ranks::threads_each() const {
  const unsigned cores = default_threads();
  return comm_ ? std::max(1U, cores / static_cast<unsigned>(comm_->ranks_on_this_host())) : cores;
}

int Ranks::end(const Ending& mine) {
  if (!comm_) {
    if (!mine.fault.empty()) complain(mine.fault);
    return mine.status;
  }
  // A fault that all ranks agreed on is met by all at once; one that is this rank's alone must not wait.
  const auto patience = mine.status != 0 ? std::optional(milliseconds(3000)) : std::nullopt;
  const auto all = comm_->meet_at_end(fmt::format("{} {}", mine.status, mine.fault), patience);
  if (!all) return abort(mine);
  int status = 0;
  std::vector<std::string> faults;
  for (const std::string& text : *all) {
    int one = 0;
    const auto rest = std::from_chars(text.data(), text.data() + text.size(), one).ptr;
    faults.emplace_back(std::min(rest + 1, text.data() + text.size()), text.data() + text.size());
    if (status == 0) status = one;
  }
  const auto first = std::find_if(faults.begin(), faults.end(), [](const auto& f) { return !f.empty(); });
  if (first != faults.end() && first - faults.begin() == comm_->rank()) {
    const bool agreed = std::all_of(faults.begin(), faults.end(), [&](const auto& f) { return f == *first; });
    complain(agreed ? mine.fault : fmt::format("{} ({})", mine.fault, comm_->place()));
  }
  std::fflush(nullptr);
  end_in(milliseconds(20000), status);  // all is done: a network that fails now changes nothing
  comm_->finalise();
  return status;
}

int Ranks::abort(const Ending& mine) {
  if (!comm_) return end(mine);
  if (!mine.fault.empty()) complain(fmt::format("{} ({})", mine.fault, comm_->place()));
  std::fflush(nullptr);
  end_in(milliseconds(3000), mine.status);
  comm_->end_all(mine.status);
  _exit(mine.status);
}

#else

Result<void> Ranks::join() {
  const int ranks = ranks_started().value_or(1);
  if (ranks == 1) return {};
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  if (rank == nullptr) rank = std::getenv("PMIX_RANK");
  if (rank != nullptr && std::strcmp(rank, "0") != 0) return Error{""};  // rank 0 says it for all
  return Error{
      fmt::format("started as {} ranks, but this bagwise was built without MPI; expected one process, or a "
                  "build with MPI",
                  ranks)};
}

Communicator* Ranks::comm() const { return nullptr; }
unsigned Ranks::threads_each() const { return default_threads(); }

int Ranks::end(const Ending& mine) {
  if (!mine.fault.empty()) complain(mine.fault);
  return mine.status;
}

int Ranks::abort(const Ending& mine) { return end(mine); }

#endif

}  // namespace bagwise::cli
