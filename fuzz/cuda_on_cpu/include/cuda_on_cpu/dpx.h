// The DPX functions: the largest or smallest of three, of a sum and a number, or of two with a predicate; sums wrap around.
#pragma once
#include <cstdint>
#include <type_traits>

namespace cuda_on_cpu {

template <class T>
inline T larger_of(T a, T b) { return a > b ? a : b; }
template <class T>
inline T smaller_of(T a, T b) { return a < b ? a : b; }
template <class T>
inline T wrapped_sum(T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Bits>(static_cast<Bits>(a) + static_cast<Bits>(b)));
}
// A function of numbers of 16 bits for both halves of a word.
template <class T, class Function, class... Words>
inline uint32_t of_halves(Function function, Words... words) {
  auto low = static_cast<uint16_t>(function(static_cast<T>(words)...)), high = static_cast<uint16_t>(function(static_cast<T>(words >> 16)...));
  return static_cast<uint32_t>(high) << 16 | low;
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_DPX(name, kind, word, number, most)                                                                          \
  static inline word __vi##name##3_##kind(word a, word b, word c) {                                                              \
    return CUDA_ON_CPU_EACH(kind, number, [](auto x, auto y, auto z) { return most(most(x, y), z); }, a, b, c);                  \
  }                                                                                                                              \
  static inline word __viadd##name##_##kind(word a, word b, word c) {                                                            \
    return CUDA_ON_CPU_EACH(kind, number, [](auto x, auto y, auto z) { return most(cuda_on_cpu::wrapped_sum(x, y), z); }, a, b, c); \
  }
#define CUDA_ON_CPU_DPX_RELU(name, kind, word, number, most)                                                                     \
  static inline word __vi##name##3_##kind##_relu(word a, word b, word c) {                                                       \
    return CUDA_ON_CPU_EACH(kind, number, [](auto x, auto y, auto z) { return cuda_on_cpu::larger_of<number>(most(most(x, y), z), 0); }, a, b, c); \
  }                                                                                                                              \
  static inline word __vi##name##_##kind##_relu(word a, word b) {                                                                \
    return CUDA_ON_CPU_EACH(kind, number, [](auto x, auto y) { return cuda_on_cpu::larger_of<number>(most(x, y), 0); }, a, b);   \
  }                                                                                                                              \
  static inline word __viadd##name##_##kind##_relu(word a, word b, word c) {                                                     \
    return CUDA_ON_CPU_EACH(kind, number, [](auto x, auto y, auto z) { return cuda_on_cpu::larger_of<number>(most(cuda_on_cpu::wrapped_sum(x, y), z), 0); }, a, b, c); \
  }
#define CUDA_ON_CPU_EACH(kind, ...) CUDA_ON_CPU_EACH_##kind(__VA_ARGS__)
#define CUDA_ON_CPU_EACH_s32(number, function, ...) (function)(__VA_ARGS__)
#define CUDA_ON_CPU_EACH_u32 CUDA_ON_CPU_EACH_s32
#define CUDA_ON_CPU_EACH_s16x2(number, function, ...) cuda_on_cpu::of_halves<number>(function, __VA_ARGS__)
#define CUDA_ON_CPU_EACH_u16x2 CUDA_ON_CPU_EACH_s16x2
CUDA_ON_CPU_DPX(max, s32, int, int, cuda_on_cpu::larger_of)
CUDA_ON_CPU_DPX(min, s32, int, int, cuda_on_cpu::smaller_of)
CUDA_ON_CPU_DPX(max, u32, unsigned int, unsigned int, cuda_on_cpu::larger_of)
CUDA_ON_CPU_DPX(min, u32, unsigned int, unsigned int, cuda_on_cpu::smaller_of)
CUDA_ON_CPU_DPX(max, s16x2, unsigned int, int16_t, cuda_on_cpu::larger_of)
CUDA_ON_CPU_DPX(min, s16x2, unsigned int, int16_t, cuda_on_cpu::smaller_of)
CUDA_ON_CPU_DPX(max, u16x2, unsigned int, uint16_t, cuda_on_cpu::larger_of)
CUDA_ON_CPU_DPX(min, u16x2, unsigned int, uint16_t, cuda_on_cpu::smaller_of)
CUDA_ON_CPU_DPX_RELU(max, s32, int, int, cuda_on_cpu::larger_of)
CUDA_ON_CPU_DPX_RELU(min, s32, int, int, cuda_on_cpu::smaller_of)
CUDA_ON_CPU_DPX_RELU(max, s16x2, unsigned int, int16_t, cuda_on_cpu::larger_of)
CUDA_ON_CPU_DPX_RELU(min, s16x2, unsigned int, int16_t, cuda_on_cpu::smaller_of)
#undef CUDA_ON_CPU_DPX
#undef CUDA_ON_CPU_DPX_RELU
#undef CUDA_ON_CPU_EACH
#undef CUDA_ON_CPU_EACH_s32
#undef CUDA_ON_CPU_EACH_u32
#undef CUDA_ON_CPU_EACH_s16x2
#undef CUDA_ON_CPU_EACH_u16x2

// The predicate says that the first number is the result, also if both are equal.
static inline int __vibmax_s32(int a, int b, bool *is_first) { return (*is_first = a >= b) ? a : b; }
static inline int __vibmin_s32(int a, int b, bool *is_first) { return (*is_first = a <= b) ? a : b; }
static inline unsigned int __vibmax_u32(unsigned int a, unsigned int b, bool *is_first) { return (*is_first = a >= b) ? a : b; }
static inline unsigned int __vibmin_u32(unsigned int a, unsigned int b, bool *is_first) { return (*is_first = a <= b) ? a : b; }
