// The calls that -fsanitize=thread makes of std::atomic and of static variables' guards, in host functions: the plain
// operations.
#include "../runtime/abi.h"

#define ATOMICS(bits, type)                                                                                          \
  CUDA_ON_CPU_API type __tsan_atomic##bits##_load(const volatile type *p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); } \
  CUDA_ON_CPU_API void __tsan_atomic##bits##_store(volatile type *p, type value, int) {                              \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                                    \
  }                                                                                                                  \
  UPDATE(bits, type, exchange, __atomic_exchange_n)                                                                  \
  UPDATE(bits, type, fetch_add, __atomic_fetch_add)                                                                  \
  UPDATE(bits, type, fetch_sub, __atomic_fetch_sub)                                                                  \
  UPDATE(bits, type, fetch_and, __atomic_fetch_and)                                                                  \
  UPDATE(bits, type, fetch_or, __atomic_fetch_or)                                                                    \
  UPDATE(bits, type, fetch_xor, __atomic_fetch_xor)                                                                  \
  SWAP(bits, type, strong)                                                                                           \
  SWAP(bits, type, weak)
#define UPDATE(bits, type, name, builtin)                                                   \
  CUDA_ON_CPU_API type __tsan_atomic##bits##_##name(volatile type *p, type value, int) {    \
    return builtin(p, value, __ATOMIC_SEQ_CST);                                             \
  }
#define SWAP(bits, type, how)                                                                                            \
  CUDA_ON_CPU_API int __tsan_atomic##bits##_compare_exchange_##how(volatile type *p, type *wanted, type value, int, int) { \
    return __atomic_compare_exchange_n(p, wanted, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                     \
  }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

CUDA_ON_CPU_API void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
CUDA_ON_CPU_API void __tsan_atomic_signal_fence(int) {}
