#include "cli/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace bagwise::cli {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t caught = 0;

void remember(int signal) { caught = signal; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  // No SA_RESTART: a read that waits for a pipe comes back, so that the work notices.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    // Whoever started us with a signal ignored (nohup) wants it ignored.
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

int interrupted() { return caught; }

}  // namespace bagwise::cli
