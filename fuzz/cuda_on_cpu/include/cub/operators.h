// The operators of cub's reductions.
#pragma once
#include "../cuda/std/functional"  // as the headers of cub do
#include "../cuda/std/limits"
#include "../cuda/std/type_traits"
#include "../cuda_on_cpu.h"

namespace cub {
namespace details {

// The line of a call of a function, in its own type: an int argument cannot be taken for one.
struct Caller {
  int line;
  operator int() const { return line; }
};
#define CUDA_ON_CPU_CALLER ::cub::details::Caller line = {__builtin_LINE()}

// The least that a collective does to its shared memory, wherever its own data lies: each thread writes for the next
// one when it begins, and reads its own when it ends. So reusing the memory without a barrier shows as a race.
template <int threads>
struct Marks {
#ifdef CUDA_ON_CPU_CHECK
  unsigned char of[threads];
  void begin() { of[(cuda_on_cpu::thread_rank() + 1) % threads] = 1; }
  void end() const {
    unsigned char mark = of[cuda_on_cpu::thread_rank()];
    asm volatile("" : : "r"(mark));
  }
#else
  void begin() {}
  void end() const {}
#endif
};

}  // namespace details

struct Sum {
  template <class T>
  T operator()(const T &a, const T &b) const { return a + b; }
};
struct Max {
  template <class T>
  T operator()(const T &a, const T &b) const { return b > a ? b : a; }
};
struct Min {
  template <class T>
  T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};

template <class Key, class Value>
struct KeyValuePair {
  Key key;
  Value value;
};
// Among equal values the one with the smaller key.
struct ArgMax {
  template <class K, class V>
  KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
    return b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V>
  KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
    return b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};

}  // namespace cub
