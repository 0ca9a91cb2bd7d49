// Chooses a mutant by the environment: BAGWISE_MUTANT is its number. With BAGWISE_MUTANT_TRACE none is
// chosen, and the numbers of those that were reached are written to the file of that name.

#include <cstdio>
#include <cstdlib>

#include "mutant.h"

namespace bagwise_mutant {

#ifndef BAGWISE_MUTANTS
#define BAGWISE_MUTANTS 1
#endif

unsigned char state[BAGWISE_MUTANTS];

namespace {

unsigned char reached[BAGWISE_MUTANTS];

// Before the constructors of the program, which may reach mutants too.
__attribute__((constructor(101))) void choose() {
  if (std::getenv("BAGWISE_MUTANT_TRACE") != nullptr) {
    for (unsigned char& each : state) each = 1;
  }
  if (const char* number = std::getenv("BAGWISE_MUTANT")) {
    const long id = std::strtol(number, nullptr, 10);
    if (id < 0 || id >= BAGWISE_MUTANTS) std::abort();
    state[id] = 2;
  }
}

__attribute__((destructor)) void write_trace() {
  const char* name = std::getenv("BAGWISE_MUTANT_TRACE");
  std::FILE* file = name != nullptr ? std::fopen(name, "w") : nullptr;
  if (file == nullptr) return;
  for (int id = 0; id < BAGWISE_MUTANTS; ++id) {
    if (reached[id] != 0) std::fprintf(file, "%d\n", id);
  }
  std::fclose(file);
}

}  // namespace

bool look(int id) {
  if (state[id] == 2) return true;
  state[id] = 0;  // by several threads perhaps, all of which write the same
  reached[id] = 1;
  return false;
}

}  // namespace bagwise_mutant
