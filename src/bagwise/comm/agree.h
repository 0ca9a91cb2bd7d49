// Ranks that agree on a fault: where one of them meets one, all of them end with it.
#pragma once

#include "bagwise/comm/communicator.h"
#include "bagwise/core/result.h"

namespace bagwise {

// Collective. Fine where it is fine on every rank; else the fault of the first rank that has one, on every
// rank, with the place where it was met.
Result<void> agree(Communicator& comm, const Result<void>& mine);

template <class T>
Result<T> agree(Communicator& comm, Result<T> mine) {
  const Result<void> fault = mine ? Result<void>() : Result<void>(mine.error());
  if (auto agreed = agree(comm, fault); !agreed) return agreed.error();
  return mine;
}

}  // namespace bagwise
