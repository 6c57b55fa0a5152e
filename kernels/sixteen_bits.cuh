// Vectors of 16 bytes that hold eight __half or __nv_bfloat16, as floats: the counterpart of row.cuh for float.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "row.cuh"

// The two elements of a word. A bfloat16 is the upper half of a float.
template <class Pair>
__device__ __forceinline__ float2 floats_of(unsigned int word) {
    return __half22float2(*reinterpret_cast<const __half2 *>(&word));
}

template <>
__device__ __forceinline__ float2 floats_of<__nv_bfloat162>(unsigned int word) {
    return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u));
}

__device__ __forceinline__ void pair_of(__nv_bfloat162 &pair, float low, float high) {
    pair = __floats2bfloat162_rn(low, high);
}

__device__ __forceinline__ void pair_of(__half2 &pair, float low, float high) {
    pair = __floats2half2_rn(low, high);
}

template <class Pair, bool IS_STREAMED, class E>
__device__ __forceinline__ void widen_pairs(Vector<E> &v, const E *from) {
    const uint4 *place = reinterpret_cast<const uint4 *>(from);
    const uint4 q = IS_STREAMED ? __ldcs(place) : *place;
    const unsigned int words[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float2 two = floats_of<Pair>(words[k]);
        v.of[2 * k] = two.x;
        v.of[2 * k + 1] = two.y;
    }
}

template <class Pair, bool IS_STREAMED, class E>
__device__ __forceinline__ void narrow_pairs(E *to, const Vector<E> &v) {
    unsigned int words[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        pair_of(*reinterpret_cast<Pair *>(&words[k]), v.of[2 * k], v.of[2 * k + 1]);
    }
    uint4 *place = reinterpret_cast<uint4 *>(to);
    const uint4 q = make_uint4(words[0], words[1], words[2], words[3]);
    if (IS_STREAMED) {
        __stcs(place, q);
    } else {
        *place = q;
    }
}

template <bool IS_STREAMED = false>
__device__ __forceinline__ void widen(Vector<__nv_bfloat16> &v, const __nv_bfloat16 *from) {
    widen_pairs<__nv_bfloat162, IS_STREAMED>(v, from);
}

template <bool IS_STREAMED = false>
__device__ __forceinline__ void narrow(__nv_bfloat16 *to, const Vector<__nv_bfloat16> &v) {
    narrow_pairs<__nv_bfloat162, IS_STREAMED>(to, v);
}

template <bool IS_STREAMED = false>
__device__ __forceinline__ void widen(Vector<__half> &v, const __half *from) {
    widen_pairs<__half2, IS_STREAMED>(v, from);
}

template <bool IS_STREAMED = false>
__device__ __forceinline__ void narrow(__half *to, const Vector<__half> &v) {
    narrow_pairs<__half2, IS_STREAMED>(to, v);
}

// An element keeps 8 or 11 digits: what __expf leaves out of 24 is lost in the rounding, and 10 to 15 % of the time is saved.
template <>
__device__ __forceinline__ float exponential<__nv_bfloat16>(float x) {
    return __expf(x);
}

template <>
__device__ __forceinline__ float exponential<__half>(float x) {
    return __expf(x);
}

// 2^x as the special-function unit gives it: one instruction, where __expf has five for arguments whose power is denormal.
__device__ __forceinline__ float power_of_two(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

constexpr float LOG2_E = 1.4426950408889634f;

template <>
__device__ __forceinline__ float term_exponential<__nv_bfloat16>(float x) {
    return power_of_two(x * LOG2_E);
}

template <>
__device__ __forceinline__ float term_exponential<__half>(float x) {
    return power_of_two(x * LOG2_E);
}

// Lifted by 2^8, what becomes 0 below 2^-126 is less than half of the least bfloat16, 2^-133. The least half is far larger.
template <>
constexpr float LIFT<__nv_bfloat16> = 0x1p8f;

template <>
__device__ __forceinline__ float lifted_exponential<__nv_bfloat16>(float x) {
    return power_of_two(fmaf(x, LOG2_E, 8.0f));
}

template <>
__device__ __forceinline__ float lifted_exponential<__half>(float x) {
    return power_of_two(x * LOG2_E);
}
