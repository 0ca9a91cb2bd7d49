#pragma once
// What tools/mutants.py writes into a copy of the sources: each function does what the code said before,
// unless the mutant with its number has been chosen (BAGWISE_MUTANT in the environment).

#include <type_traits>

namespace bagwise_mutant {

// One for each mutant: 0 as written, 1 not reached yet while tracing, 2 chosen.
extern unsigned char state[];
bool look(int id);

inline bool on(int id) { return __builtin_expect(state[id] != 0, 0) && look(id); }

// x, or -x. Of a matrix, and of what stands for one, it is a product.
template <class T>
auto flip(int id, const T& x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return on(id) ? static_cast<T>(-x) : x;
  } else {
    return (on(id) ? -1.0 : 1.0) * x;
  }
}

inline double inverse(int id, double x) { return on(id) ? 1 / x : x; }

template <class A, class B>
auto times(int id, const A& a, const B& b) {
  static_assert(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>);
  return on(id) ? a / b : a * b;
}
template <class A, class B>
auto over(int id, const A& a, const B& b) {
  static_assert(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>);
  return on(id) ? a * b : a / b;
}
template <class A, class B>
auto remainder(int id, const A& a, const B& b) {
  return on(id) ? a / b : a % b;
}

// Each with its edge moved, and turned round.
template <class A, class B>
bool less(int edge, int turned, const A& a, const B& b) {
  return on(edge) ? a <= b : (a < b) != on(turned);
}
template <class A, class B>
bool at_most(int edge, int turned, const A& a, const B& b) {
  return on(edge) ? a < b : (a <= b) != on(turned);
}
template <class A, class B>
bool more(int edge, int turned, const A& a, const B& b) {
  return on(edge) ? a >= b : (a > b) != on(turned);
}
template <class A, class B>
bool at_least(int edge, int turned, const A& a, const B& b) {
  return on(edge) ? a > b : (a >= b) != on(turned);
}
template <class A, class B>
bool same(int id, const A& a, const B& b) {
  return (a == b) != on(id);
}
template <class A, class B>
bool differs(int id, const A& a, const B& b) {
  return (a != b) != on(id);
}

// 0 and 1 become each other, other small numbers x + 1, large ones 2 x.
template <class T>
T number(int id, T x) {
  if (!on(id)) return x;
  if (x == 0 || x == 1) return static_cast<T>(1 - x);
  return static_cast<T>(x < 2 ? x + 1 : 2 * x);
}

}  // namespace bagwise_mutant
