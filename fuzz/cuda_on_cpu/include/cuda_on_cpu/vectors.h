// Vector types, aligned as nvcc aligns them.
#pragma once

#define CUDA_ON_CPU_VECTOR(scalar, name, alignment2, alignment4)                                              \
  struct name##1 {                                                                                           \
    scalar x;                                                                                                \
  };                                                                                                         \
  struct __attribute__((aligned(alignment2))) name##2 {                                                      \
    scalar x, y;                                                                                             \
  };                                                                                                         \
  struct name##3 {                                                                                           \
    scalar x, y, z;                                                                                          \
  };                                                                                                         \
  struct __attribute__((aligned(alignment4))) name##4 {                                                      \
    scalar x, y, z, w;                                                                                       \
  };                                                                                                         \
  static inline constexpr name##1 make_##name##1(scalar x) { return {x}; }                                   \
  static inline constexpr name##2 make_##name##2(scalar x, scalar y) { return {x, y}; }                      \
  static inline constexpr name##3 make_##name##3(scalar x, scalar y, scalar z) { return {x, y, z}; }         \
  static inline constexpr name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) { return {x, y, z, w}; }

CUDA_ON_CPU_VECTOR(signed char, char, 2, 4)
CUDA_ON_CPU_VECTOR(unsigned char, uchar, 2, 4)
CUDA_ON_CPU_VECTOR(short, short, 4, 8)
CUDA_ON_CPU_VECTOR(unsigned short, ushort, 4, 8)
CUDA_ON_CPU_VECTOR(int, int, 8, 16)
CUDA_ON_CPU_VECTOR(unsigned int, uint, 8, 16)
CUDA_ON_CPU_VECTOR(long, long, 16, 16)
CUDA_ON_CPU_VECTOR(unsigned long, ulong, 16, 16)
CUDA_ON_CPU_VECTOR(long long, longlong, 16, 16)
CUDA_ON_CPU_VECTOR(unsigned long long, ulonglong, 16, 16)
CUDA_ON_CPU_VECTOR(float, float, 8, 16)
CUDA_ON_CPU_VECTOR(double, double, 16, 16)

// Vectors of four that say how they are aligned.
#define CUDA_ON_CPU_ALIGNED_VECTOR(scalar, name, alignment)                                                         \
  struct __attribute__((aligned(alignment))) name##4_##alignment##a {                                              \
    scalar x, y, z, w;                                                                                             \
  };                                                                                                               \
  static inline constexpr name##4_##alignment##a make_##name##4_##alignment##a(scalar x, scalar y, scalar z, scalar w) { \
    return {x, y, z, w};                                                                                           \
  }
CUDA_ON_CPU_ALIGNED_VECTOR(long, long, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(long, long, 32)
CUDA_ON_CPU_ALIGNED_VECTOR(unsigned long, ulong, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(unsigned long, ulong, 32)
CUDA_ON_CPU_ALIGNED_VECTOR(long long, longlong, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(long long, longlong, 32)
CUDA_ON_CPU_ALIGNED_VECTOR(unsigned long long, ulonglong, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(unsigned long long, ulonglong, 32)
CUDA_ON_CPU_ALIGNED_VECTOR(double, double, 16)
CUDA_ON_CPU_ALIGNED_VECTOR(double, double, 32)

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
