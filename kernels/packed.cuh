// Vectors of 16 bytes as they lie in memory: elements of 16 bits take half of the registers that their floats take.
#pragma once

#include "sixteen_bits.cuh"

template <class E>
struct Packed {
    uint4 words;
};

// Every element is -inf, whose exponential is an exact 0.
template <class E>
__device__ __forceinline__ Packed<E> packed_nothing() {
    const unsigned int word = std::is_same_v<E, float> ? 0xff800000u : std::is_same_v<E, __half> ? 0xfc00fc00u : 0xff80ff80u;
    return {make_uint4(word, word, word, word)};
}

template <class E>
__device__ __forceinline__ Vector<E> floats_in(const Packed<E> &packed) {
    Vector<E> v;
    const unsigned int words[4] = {packed.words.x, packed.words.y, packed.words.z, packed.words.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if constexpr (std::is_same_v<E, float>) {
            v.of[k] = __uint_as_float(words[k]);
        } else {
            const float2 two = floats_of<std::conditional_t<std::is_same_v<E, __half>, __half2, __nv_bfloat162>>(words[k]);
            v.of[2 * k] = two.x;
            v.of[2 * k + 1] = two.y;
        }
    }
    return v;
}

// Of one word each: two elements are compared by one instruction. A NaN loses against a number.
template <class E>
__device__ __forceinline__ unsigned int larger_of(unsigned int a, unsigned int b) {
    if constexpr (std::is_same_v<E, float>) {
        return __float_as_uint(fmaxf(__uint_as_float(a), __uint_as_float(b)));
    } else {
        using Pair = std::conditional_t<std::is_same_v<E, __half>, __half2, __nv_bfloat162>;
        const Pair larger = __hmax2(*reinterpret_cast<const Pair *>(&a), *reinterpret_cast<const Pair *>(&b));
        return *reinterpret_cast<const unsigned int *>(&larger);
    }
}

template <class E>
__device__ __forceinline__ Packed<E> larger_of(const Packed<E> &a, const Packed<E> &b) {
    return {make_uint4(larger_of<E>(a.words.x, b.words.x), larger_of<E>(a.words.y, b.words.y),
                       larger_of<E>(a.words.z, b.words.z), larger_of<E>(a.words.w, b.words.w))};
}

template <class E>
__device__ __forceinline__ float largest_in(const Packed<E> &packed) {
    const uint4 words = packed.words;
    const unsigned int word = larger_of<E>(larger_of<E>(words.x, words.y), larger_of<E>(words.z, words.w));
    const Vector<E> v = floats_in(Packed<E>{make_uint4(word, word, word, word)});
    return fmaxf(-INFINITY, fmaxf(v.of[0], v.of[1]));  // NaN where every element is NaN is no number to subtract, either
}

// Vector `first + further` of a row. Where `further` is a constant, its address costs no arithmetic.
template <Loads LOADS = KEPT, class E>
__device__ __forceinline__ Packed<E> packed_in(const Row<E> &row, int first, int further = 0) {
    constexpr int width = Vector<E>::width;
    const uint4 *from = reinterpret_cast<const uint4 *>(row.x + row.head + width * first + width * further);
    return {LOADS == STREAMED ? __ldcs(from) : LOADS == KEPT ? *kept(from) : *from};
}

// How many blocks a multiprocessor shall run at once whose threads hold so many packed vectors.
constexpr int resident_packed_blocks(int threads, int vectors) {
    const int blocks = (vectors <= 4 ? 1536 : vectors <= 8 ? 1024 : 512) / threads;
    return blocks < 1 ? 1 : blocks < 16 ? blocks : 16;
}

template <class E>
__device__ __forceinline__ Packed<E> packed_zeros() {
    return {make_uint4(0u, 0u, 0u, 0u)};
}

// Elements that may begin anywhere, as a vector's floats.
template <class E>
__device__ __forceinline__ Vector<E> load_singly(const E *from) {
    Vector<E> v;
#pragma unroll
    for (int k = 0; k < Vector<E>::width; ++k) {
        v.of[k] = static_cast<float>(from[k]);
    }
    return v;
}
