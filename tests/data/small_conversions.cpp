// Every conversion of cuda_fp8.h, cuda_fp6.h and cuda_fp4.h, by name, on arrays of bits. It is compiled with kfuzz's
// headers, or with -DTOOLKIT and those of a CUDA toolkit, whose host path g++ takes: both must give the same.
#ifndef TOOLKIT
#include "cuda_on_cpu.h"
#endif
#include <cstdint>
#include <cstring>

#include "cuda_fp4.h"
#include "cuda_fp6.h"
#include "cuda_fp8.h"

namespace {

template <class To>
To taken(uint64_t bits) {
  To made;
  memcpy(&made, &bits, sizeof made);
  return made;
}
template <class From>
uint64_t given(From value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
// Two of a kind: the bits, and the same with another number above them.
template <class Pair, class One>
Pair pair_of(uint64_t bits) {
  One one = taken<One>(bits), other = taken<One>(bits ^ (bits >> 3));
  Pair pair;
  memcpy(&pair, &one, sizeof one);
  memcpy(reinterpret_cast<char *>(&pair) + sizeof one, &other, sizeof other);
  return pair;
}

struct Conversion {
  const char *name;
  uint64_t (*convert)(uint64_t);
};
#define GIVES(name, expression) {name, [](uint64_t x) -> uint64_t { return given(expression); }},
#define FROM(from, Type, from2, Type2, to, ...)                                                                \
  GIVES(#from " to " #to " " #__VA_ARGS__, __nv_cvt_##from##_to_##to(taken<Type>(x), __VA_ARGS__))             \
  GIVES(#from2 " to " #to "x2 " #__VA_ARGS__, __nv_cvt_##from2##_to_##to##x2(pair_of<Type2, Type>(x), __VA_ARGS__))
#define FROM_EACH(to, ...)                                               \
  FROM(float, float, float2, float2, to, __VA_ARGS__)                    \
  FROM(double, double, double2, double2, to, __VA_ARGS__)                \
  FROM(halfraw, __half_raw, halfraw2, __half2_raw, to, __VA_ARGS__)      \
  FROM(bfloat16raw, __nv_bfloat16_raw, bfloat16raw2, __nv_bfloat162_raw, to, __VA_ARGS__)
#define TO_SCALE(...)                                                      \
  FROM(float, float, float2, float2, e8m0, __VA_ARGS__)                    \
  FROM(double, double, double2, double2, e8m0, __VA_ARGS__)                \
  FROM(bfloat16raw, __nv_bfloat16_raw, bfloat162raw, __nv_bfloat162_raw, e8m0, __VA_ARGS__)
#define RAW(to, Storage, Storage2, ...)                                                    \
  GIVES(#to " to halfraw " #__VA_ARGS__, __nv_cvt_##to##_to_halfraw(Storage(x), __VA_ARGS__)) \
  GIVES(#to "x2 to halfraw2 " #__VA_ARGS__, __nv_cvt_##to##x2_to_halfraw2(Storage2(x), __VA_ARGS__))
#define MADE(Type, From) GIVES("made " #Type " of " #From, Type(taken<From>(x)))
#define MADE_OF_PAIR(Type, From, One) GIVES("made " #Type " of " #From, Type(pair_of<From, One>(x)))
#define READ(Type, To) GIVES("read " #Type " as " #To, static_cast<To>(taken<Type>(x)))
#define INTEGERS(which, Type)                                                                                      \
  which(Type, short) which(Type, unsigned short) which(Type, int) which(Type, unsigned int) which(Type, long)     \
      which(Type, unsigned long) which(Type, long long) which(Type, unsigned long long)
#define OF_TYPE(One, Two, Four)                                                                                    \
  MADE(One, float) MADE(One, double) MADE(One, __half) MADE(One, __nv_bfloat16) INTEGERS(MADE, One)               \
  READ(One, float) READ(One, double) READ(One, __half) READ(One, __nv_bfloat16) READ(One, bool) INTEGERS(READ, One) \
  READ(One, char) READ(One, signed char) READ(One, unsigned char)                                                  \
  MADE_OF_PAIR(Two, float2, float) MADE_OF_PAIR(Two, double2, double) MADE_OF_PAIR(Two, __half2, __half)           \
  MADE_OF_PAIR(Two, __nv_bfloat162, __nv_bfloat16) READ(Two, float2) READ(Two, __half2)                            \
  GIVES("made " #Four " of halves", Four(pair_of<__half2, __half>(x), pair_of<__half2, __half>(x >> 7)))           \
  GIVES("made " #Four " of bfloats", Four(pair_of<__nv_bfloat162, __nv_bfloat16>(x), pair_of<__nv_bfloat162, __nv_bfloat16>(x >> 7))) \
  GIVES("made " #Four " of float4", Four(float4{taken<float>(x), taken<float>(x * 3), taken<float>(x * 5), taken<float>(x * 7)})) \
  GIVES("made " #Four " of double4", Four(double4_16a{taken<double>(x), taken<double>(x * 3), taken<double>(x * 5), taken<double>(x * 7)})) \
  GIVES("read " #Four ", lower half", static_cast<float4>(taken<Four>(x)).x + 0.0f)                               \
  GIVES("read " #Four ", second", static_cast<float4>(taken<Four>(x)).y)                                          \
  GIVES("read " #Four ", third", static_cast<float4>(taken<Four>(x)).z)                                           \
  GIVES("read " #Four ", last", static_cast<float4>(taken<Four>(x)).w)

const Conversion conversions[] = {
    FROM_EACH(fp8, __NV_SATFINITE, __NV_E4M3)
    FROM_EACH(fp8, __NV_NOSAT, __NV_E4M3)
    FROM_EACH(fp8, __NV_SATFINITE, __NV_E5M2)
    FROM_EACH(fp8, __NV_NOSAT, __NV_E5M2)
    FROM_EACH(fp6, __NV_E2M3, cudaRoundNearest)
    FROM_EACH(fp6, __NV_E2M3, cudaRoundZero)
    FROM_EACH(fp6, __NV_E3M2, cudaRoundNearest)
    FROM_EACH(fp6, __NV_E3M2, cudaRoundZero)
    FROM_EACH(fp4, __NV_E2M1, cudaRoundNearest)
    FROM_EACH(fp4, __NV_E2M1, cudaRoundZero)
    TO_SCALE(__NV_SATFINITE, cudaRoundZero)
    TO_SCALE(__NV_NOSAT, cudaRoundZero)
    TO_SCALE(__NV_SATFINITE, cudaRoundPosInf)
    TO_SCALE(__NV_NOSAT, cudaRoundPosInf)
    RAW(fp8, __nv_fp8_storage_t, __nv_fp8x2_storage_t, __NV_E4M3)
    RAW(fp8, __nv_fp8_storage_t, __nv_fp8x2_storage_t, __NV_E5M2)
    RAW(fp6, __nv_fp6_storage_t, __nv_fp6x2_storage_t, __NV_E2M3)
    RAW(fp6, __nv_fp6_storage_t, __nv_fp6x2_storage_t, __NV_E3M2)
    RAW(fp4, __nv_fp4_storage_t, __nv_fp4x2_storage_t, __NV_E2M1)
    GIVES("e8m0 to bf16raw", __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t(x)))
    GIVES("e8m0x2 to bf162raw", __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t(x)))
    READ(__nv_fp8x2_e8m0, __nv_bfloat162)
    OF_TYPE(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3)
    OF_TYPE(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2)
    OF_TYPE(__nv_fp8_e8m0, __nv_fp8x2_e8m0, __nv_fp8x4_e8m0)
    OF_TYPE(__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3)
    OF_TYPE(__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2)
    OF_TYPE(__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1)
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const char *name_of(int which) {
  return which < static_cast<int>(sizeof conversions / sizeof *conversions) ? conversions[which].name : nullptr;
}
extern "C" __attribute__((visibility("default"))) void convert(int which, const uint64_t *from, uint64_t *to, long count) {
  for (long i = 0; i < count; i++) to[i] = conversions[which].convert(from[i]);
}
// How many of the floats with bits from `first` on it gives another code than `before`, which has those codes, or it
// fills `before` in.
extern "C" __attribute__((visibility("default"))) long convert_range(int which, uint64_t first, uint16_t *before, long count, bool fills) {
  uint64_t (*one)(uint64_t) = conversions[which].convert;
  long differ = 0;
  for (long i = 0; i < count; i++) {
    auto code = static_cast<uint16_t>(one(first + static_cast<uint64_t>(i)));
    if (fills) before[i] = code;
    differ += before[i] != code;
  }
  return differ;
}
