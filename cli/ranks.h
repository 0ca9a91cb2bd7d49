// The ranks that mpirun or srun started together: how this process joins them, and how all end as one.
#pragma once

#include <memory>
#include <string>

#include "bagwise/comm/communicator.h"
#include "bagwise/core/result.h"

namespace bagwise {
class MpiCommunicator;
}

namespace bagwise::cli {

// How a command ended on this rank: an exit status, and the line that says why if it is a fault.
struct Ending {
  int status = 0;
  std::string fault = {};
};

// A signal came while this rank waited for others: thrown out of the wait, caught by main.
struct Interrupted {};

// Short enough to need no memory as a std::string.
inline constexpr const char* kOutOfMemory = "out of memory";

// One line on standard error, whatever bytes a file's cells or names have. Without memory for it: that there
// is none.
void complain(const std::string& message) noexcept;

class Ranks {
 public:
  Ranks();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  // Joins the others where there are any: MPI is not started in a process of its own, as that takes time.
  // Errors: started as one of several, but built without MPI.
  Result<void> join();

  [[nodiscard]] Communicator* comm() const;  // null: this process is alone
  [[nodiscard]] unsigned threads_each() const;
  // Meets the other ranks, says what is to be said, once, and returns the status of this process, the same on
  // all ranks. Where the others do not come, because one fault ended this rank alone, all are ended.
  int end(const Ending& mine);
  // Ends all ranks from a rank that cannot go on.
  int abort(const Ending& mine);

 private:
  std::unique_ptr<MpiCommunicator> comm_;
};

}  // namespace bagwise::cli
