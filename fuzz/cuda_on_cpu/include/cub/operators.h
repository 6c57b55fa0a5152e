// What cub's reductions combine values by.
#pragma once
#include "../cuda_on_cpu.h"

namespace cub {
namespace details {

// From which line a function is called, in a type of its own: an argument that is an int is none.
struct Caller {
  int line;
  operator int() const { return line; }
};
#define CUDA_ON_CPU_CALLER ::cub::details::Caller line = {__builtin_LINE()}

// What a collective does to its shared memory at the least, wherever its own data may lie: each thread writes for the next
// one as it comes, and reads its own as it goes. So who uses the memory again without a barrier is seen to race.
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
  T operator()(const T &a, const T &b) const {
    return a + b;
  }
};
struct Max {
  template <class T>
  T operator()(const T &a, const T &b) const {
    return b > a ? b : a;
  }
};
struct Min {
  template <class T>
  T operator()(const T &a, const T &b) const {
    return b < a ? b : a;
  }
};

template <class Key, class Value>
struct KeyValuePair {
  Key key;
  Value value;
};
// Of equal values the one with the lower key.
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
