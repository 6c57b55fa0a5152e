// Atomics. All CUDA threads of a process run on one OS thread and switch only where the runtime says so: a plain read
// and write are atomic here.
#pragma once
#include "../../runtime/atomic_operations.h"
#include "language.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_turn();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_atomic(const void *p, uint32_t bytes, uint32_t what, void *pc);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_poll();
CUDA_ON_CPU_IMPORT bool cuda_on_cpu_is_shared(const void *p);
CUDA_ON_CPU_IMPORT void cuda_on_cpu_came_on();

#ifdef CUDA_ON_CPU_CHECK
// Out of line, so that the return address names the caller; unchecked, so that only the announcement counts.
#define CUDA_ON_CPU_ATOMIC template <class T> __attribute__((noinline)) CUDA_ON_CPU_UNCHECKED
#define CUDA_ON_CPU_TURN() cuda_on_cpu_turn()
#define CUDA_ON_CPU_ANNOUNCE(p, what) cuda_on_cpu_atomic(p, sizeof *(p), what, __builtin_return_address(0))
#else
#define CUDA_ON_CPU_ATOMIC template <class T> inline
#define CUDA_ON_CPU_TURN() static_cast<void>(0)
#define CUDA_ON_CPU_ANNOUNCE(p, what) static_cast<void>(what)
#endif

namespace cuda_on_cpu {

template <class T>
struct Same {
  using type = T;
};

// By a word if it is one: g++ -O1 calls memcmp.
template <class T>
CUDA_ON_CPU_INLINE bool same_bits(const T &a, const T &b) {
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  if constexpr (sizeof(T) == sizeof(Word)) {
    Word one, other;
    __builtin_memcpy(&one, &a, sizeof one);
    __builtin_memcpy(&other, &b, sizeof other);
    return one == other;
  } else {
    return __builtin_memcmp(&a, &b, sizeof(T)) == 0;
  }
}

CUDA_ON_CPU_INLINE bool is_denormal(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return (bits & 0x7f800000u) == 0 && (bits & 0x007fffffu) != 0;
}
CUDA_ON_CPU_INLINE float flushed(float value) { return is_denormal(value) ? std::copysign(0.0f, value) : value; }

// A GPU flushes denormal operands and results of atomic float32 additions in global memory, and only there: PTX on
// atom.add.f32. A double, or a float in shared memory, keeps them.
template <class T>
CUDA_ON_CPU_INLINE T atomic_sum(const T *, T old, T value) { return static_cast<T>(old + value); }
CUDA_ON_CPU_INLINE float atomic_sum(const float *p, float old, float value) {
  float now = old + value;
  bool any = is_denormal(old) || is_denormal(value) || is_denormal(now);
  return any && !cuda_on_cpu_is_shared(p) ? flushed(flushed(old) + flushed(value)) : now;
}

// volatile where the language allows it: not for a class, such as __half.
template <class T>
CUDA_ON_CPU_INLINE T fresh(const T *p) {
  if constexpr (std::is_arithmetic_v<T>)
    return *const_cast<const volatile T *>(p);
  else
    return *p;
}
template <class T>
CUDA_ON_CPU_INLINE void set_fresh(T *p, T value) {
  if constexpr (std::is_arithmetic_v<T>)
    *const_cast<volatile T *>(p) = value;
  else
    *p = value;
}

CUDA_ON_CPU_INLINE void changed_or_polled(bool changed) {
  if (changed)
    cuda_on_cpu_came_on();
  else
    cuda_on_cpu_poll();
}

// CUDA's own atomics are relaxed: to acquire by one takes a fence after it. But all programs rely on this: the thread
// with the last ticket can read what the others left before theirs. So they acquire at once (docs/limits.md); a lock
// does not, nor does a thread that waits in a loop by an update of nothing, such as atomicAdd(p, 0).
constexpr uint32_t update_of_device = atomic_reads | atomic_writes | atomic_acquires_by_habit, update_of_block = update_of_device | atomic_of_block;

#define CUDA_ON_CPU_UPDATE(name, expression)                                                                \
  CUDA_ON_CPU_ATOMIC T name(T *p, typename Same<T>::type value, uint32_t what = update_of_device) {         \
    CUDA_ON_CPU_TURN();                                                                                     \
    T old = fresh(p), now = (expression);                                                                   \
    CUDA_ON_CPU_ANNOUNCE(p, what | (same_bits(old, now) ? uint32_t{atomic_keeps} : 0u));                     \
    set_fresh(p, now);                                                                                      \
    changed_or_polled(!same_bits(old, now));                                                                \
    return old;                                                                                             \
  }
CUDA_ON_CPU_UPDATE(atomic_add, atomic_sum(p, old, value))
CUDA_ON_CPU_UPDATE(atomic_sub, static_cast<T>(old - value))
CUDA_ON_CPU_UPDATE(atomic_exchange, value)
CUDA_ON_CPU_UPDATE(atomic_min, value < old ? value : old)
CUDA_ON_CPU_UPDATE(atomic_max, old < value ? value : old)
CUDA_ON_CPU_UPDATE(atomic_increment, old >= value ? T(0) : static_cast<T>(old + 1))
CUDA_ON_CPU_UPDATE(atomic_decrement, old == 0 || old > value ? value : static_cast<T>(old - 1))
CUDA_ON_CPU_UPDATE(atomic_and, static_cast<T>(old & value))
CUDA_ON_CPU_UPDATE(atomic_or, static_cast<T>(old | value))
CUDA_ON_CPU_UPDATE(atomic_xor, static_cast<T>(old ^ value))
#undef CUDA_ON_CPU_UPDATE

CUDA_ON_CPU_ATOMIC T atomic_compare_and_swap(T *p, typename Same<T>::type expected, typename Same<T>::type value,
                                             uint32_t what = atomic_reads) {
  CUDA_ON_CPU_TURN();
  T old = *const_cast<volatile T *>(p);
  bool swaps = same_bits(old, expected);
  CUDA_ON_CPU_ANNOUNCE(p, what | atomic_swaps | (swaps ? atomic_writes : 0u));
  if (swaps) *const_cast<volatile T *>(p) = value;
  changed_or_polled(swaps && !same_bits(old, value));
  return old;
}

CUDA_ON_CPU_ATOMIC T atomic_load(const T *p, uint32_t what = atomic_reads) {
  CUDA_ON_CPU_TURN();
  cuda_on_cpu_poll();
  CUDA_ON_CPU_ANNOUNCE(p, what);
  return *p;
}

CUDA_ON_CPU_ATOMIC void atomic_store(T *p, typename Same<T>::type value, uint32_t what = atomic_writes) {
  CUDA_ON_CPU_TURN();
  CUDA_ON_CPU_ANNOUNCE(p, what);
  *p = value;
  cuda_on_cpu_came_on();
}

}  // namespace cuda_on_cpu

// CUDA defines each function only for certain types; others must not compile.
#define CUDA_ON_CPU_ATOMIC_FORMS(type, name, function)                                                              \
  CUDA_ON_CPU_INLINE type name(type *p, type value) { return cuda_on_cpu::function(p, value); }                     \
  CUDA_ON_CPU_INLINE type name##_block(type *p, type value) {                                                       \
    return cuda_on_cpu::function(p, value, cuda_on_cpu::update_of_block);                                           \
  }                                                                                                                 \
  CUDA_ON_CPU_INLINE type name##_system(type *p, type value) { return cuda_on_cpu::function(p, value); }
#define CUDA_ON_CPU_COMPARE_FORMS(type)                                                                             \
  CUDA_ON_CPU_INLINE type atomicCAS(type *p, type expected, type value) {                                           \
    return cuda_on_cpu::atomic_compare_and_swap(p, expected, value);                                                \
  }                                                                                                                 \
  CUDA_ON_CPU_INLINE type atomicCAS_block(type *p, type expected, type value) {                                     \
    return cuda_on_cpu::atomic_compare_and_swap(p, expected, value, cuda_on_cpu::atomic_reads | cuda_on_cpu::atomic_of_block); \
  }                                                                                                                 \
  CUDA_ON_CPU_INLINE type atomicCAS_system(type *p, type expected, type value) { return atomicCAS(p, expected, value); }
#define CUDA_ON_CPU_ATOMIC_INTEGER(type)                       \
  CUDA_ON_CPU_ATOMIC_FORMS(type, atomicAdd, atomic_add)        \
  CUDA_ON_CPU_ATOMIC_FORMS(type, atomicExch, atomic_exchange)  \
  CUDA_ON_CPU_ATOMIC_FORMS(type, atomicMin, atomic_min)        \
  CUDA_ON_CPU_ATOMIC_FORMS(type, atomicMax, atomic_max)        \
  CUDA_ON_CPU_ATOMIC_FORMS(type, atomicAnd, atomic_and)        \
  CUDA_ON_CPU_ATOMIC_FORMS(type, atomicOr, atomic_or)          \
  CUDA_ON_CPU_ATOMIC_FORMS(type, atomicXor, atomic_xor)        \
  CUDA_ON_CPU_COMPARE_FORMS(type)

CUDA_ON_CPU_ATOMIC_INTEGER(int)
CUDA_ON_CPU_ATOMIC_INTEGER(unsigned int)
CUDA_ON_CPU_ATOMIC_INTEGER(unsigned long long)
CUDA_ON_CPU_ATOMIC_FORMS(long long, atomicMin, atomic_min)
CUDA_ON_CPU_ATOMIC_FORMS(long long, atomicMax, atomic_max)
CUDA_ON_CPU_ATOMIC_FORMS(int, atomicSub, atomic_sub)
CUDA_ON_CPU_ATOMIC_FORMS(unsigned int, atomicSub, atomic_sub)
CUDA_ON_CPU_ATOMIC_FORMS(unsigned int, atomicInc, atomic_increment)
CUDA_ON_CPU_ATOMIC_FORMS(unsigned int, atomicDec, atomic_decrement)
CUDA_ON_CPU_ATOMIC_FORMS(float, atomicAdd, atomic_add)
CUDA_ON_CPU_ATOMIC_FORMS(double, atomicAdd, atomic_add)
CUDA_ON_CPU_ATOMIC_FORMS(float, atomicExch, atomic_exchange)
CUDA_ON_CPU_COMPARE_FORMS(unsigned short)
