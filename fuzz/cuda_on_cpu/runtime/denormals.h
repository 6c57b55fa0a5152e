// -ftz=true: the processor flushes denormal results and operands to zero while kernels run.
#pragma once
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace cuda_on_cpu {

#if defined(__x86_64__)
constexpr uint32_t flush_bits = 0x8040;  // MXCSR: flush to zero, denormals are zero
static inline uint32_t read_float_control() { return _mm_getcsr(); }
static inline void write_float_control(uint32_t value) { _mm_setcsr(value); }
#elif defined(__aarch64__)
constexpr uint32_t flush_bits = 1u << 24;  // FPCR.FZ
static inline uint32_t read_float_control() {
  uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return static_cast<uint32_t>(value);
}
static inline void write_float_control(uint32_t value) { asm volatile("msr fpcr, %0" : : "r"(uint64_t{value})); }
#endif

}  // namespace cuda_on_cpu
