// Ctrl-C and its kin: the first asks running work to stop cleanly, the second ends the process at once.
#pragma once

namespace bagwise::cli {

void catch_interrupts();
int interrupted();  // the signal that came, or 0

}  // namespace bagwise::cli
