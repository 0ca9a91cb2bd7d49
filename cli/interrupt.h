// Ctrl-C and its kin: the first asks running work to stop cleanly, the second ends the process at once.
#pragma once

namespace bagwise::cli {

// `before_end`: what the second one does first, in a signal handler.
void catch_interrupts(void (*before_end)() noexcept = nullptr);
int interrupted();  // the signal that came, or 0

}  // namespace bagwise::cli
