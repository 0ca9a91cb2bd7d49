// How many random cases a test looks at.
#pragma once

namespace bagwise::test {

// All of them, or a fifth under sanitizers, which look for other faults and are slow.
constexpr int cases(int all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return all / 5;
#else
  return all;
#endif
}

}  // namespace bagwise::test
