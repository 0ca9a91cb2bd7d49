#include "cli/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace bagwise::cli {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t caught = 0;
void (*clean_up)() noexcept = nullptr;  // set before any signal is caught

void remember(int signal) {
  if (caught != 0) {  // once more: at once, but with nothing half made left behind
    if (clean_up != nullptr) clean_up();
    std::signal(signal, SIG_DFL);
    raise(signal);  // comes when this handler has returned
  }
  caught = signal;
}

}  // namespace

void catch_interrupts(void (*before_end)() noexcept) {
  clean_up = before_end;
  struct sigaction action {};
  action.sa_handler = remember;
  // No SA_RESTART: a read that waits for a pipe comes back, so that the work notices.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    // Whoever started us with a signal ignored (nohup) wants it ignored.
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

int interrupted() { return caught; }

}  // namespace bagwise::cli
