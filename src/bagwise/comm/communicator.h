// Communicator: how ranks that share one computation add up what each has.
//
// An argument, never ambient. self.h is one rank alone, threads.h makes ranks of threads; no MPI type here.
#pragma once

#include <span>

namespace bagwise {

class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // Replaces the values by their sum over all ranks, added in rank order: the same bits on every rank.
  virtual void sum(std::span<double> values) = 0;
};

}  // namespace bagwise
