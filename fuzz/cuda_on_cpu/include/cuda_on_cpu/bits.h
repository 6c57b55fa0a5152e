// Bits: reinterpretation, counting, and the small integer intrinsics.
#pragma once
#include "language.h"

namespace cuda_on_cpu {

// The types that warps may exchange; they include numbers that count (counted.h), though not as bytes.
template <class T>
constexpr bool is_trivial = std::is_trivially_copyable_v<T>;

template <class T>
inline uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0, "warp collectives take values of 1, 2, 4 or 8 bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
inline T from_bits(uint64_t bits) {
  T value;
  __builtin_memcpy(static_cast<void *>(&value), &bits, sizeof value);
  return value;
}

}  // namespace cuda_on_cpu

static inline int __float_as_int(float x) { return cuda_on_cpu::from_bits<int>(cuda_on_cpu::to_bits(x)); }
static inline unsigned int __float_as_uint(float x) { return cuda_on_cpu::from_bits<unsigned int>(cuda_on_cpu::to_bits(x)); }
static inline float __int_as_float(int x) { return cuda_on_cpu::from_bits<float>(cuda_on_cpu::to_bits(x)); }
static inline float __uint_as_float(unsigned int x) { return cuda_on_cpu::from_bits<float>(cuda_on_cpu::to_bits(x)); }
static inline long long __double_as_longlong(double x) { return cuda_on_cpu::from_bits<long long>(cuda_on_cpu::to_bits(x)); }
static inline double __longlong_as_double(long long x) { return cuda_on_cpu::from_bits<double>(cuda_on_cpu::to_bits(x)); }
static inline int __double2hiint(double x) { return static_cast<int>(cuda_on_cpu::to_bits(x) >> 32); }
static inline int __double2loint(double x) { return static_cast<int>(cuda_on_cpu::to_bits(x)); }
static inline double __hiloint2double(int high, int low) {
  return cuda_on_cpu::from_bits<double>(static_cast<uint64_t>(static_cast<unsigned int>(high)) << 32 | static_cast<unsigned int>(low));
}

static inline int __popc(unsigned int x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned int>(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned int __brev(unsigned int x) {
  unsigned int r = 0;
  for (int i = 0; i < 32; i++) r |= (x >> i & 1u) << (31 - i);
  return r;
}
static inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32 | __brev(static_cast<unsigned int>(x >> 32));
}

// 24-bit products, as the GPU computes them: the upper bits of the operands are ignored.
static inline int __mul24(int a, int b) {
  long long product = static_cast<long long>(a << 8 >> 8) * (b << 8 >> 8);
  return static_cast<int>(product);
}
static inline unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
static inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
static inline unsigned int __umulhi(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>(static_cast<unsigned long long>(a) * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
static inline long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }

// Averages that cannot overflow, rounded down or up; sums of absolute differences.
static inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
static inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
static inline unsigned int __uhadd(unsigned int a, unsigned int b) { return static_cast<unsigned int>((static_cast<uint64_t>(a) + b) >> 1); }
static inline unsigned int __urhadd(unsigned int a, unsigned int b) { return static_cast<unsigned int>((static_cast<uint64_t>(a) + b + 1) >> 1); }
static inline unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return (a > b ? a - b : b - a) + c; }
static inline unsigned int __sad(int a, int b, unsigned int c) {
  return (a > b ? static_cast<unsigned int>(a) - static_cast<unsigned int>(b) : static_cast<unsigned int>(b) - static_cast<unsigned int>(a)) + c;
}
static inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
static inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}
static inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
static inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
static inline unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
  uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  unsigned int r = 0;
  for (int i = 0; i < 4; i++) r |= static_cast<unsigned int>(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return r;
}
