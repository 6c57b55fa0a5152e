// Vectors of 16 bytes as they lie in memory: elements of 16 bits take half of the registers that their floats take.
#pragma once

#include <cooperative_groups.h>

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
    const Vector<E> v = floats_in(packed);
    float largest = -INFINITY;  // NaN where every element is NaN is no number to subtract, either
#pragma unroll
    for (int k = 0; k < Vector<E>::width; ++k) {
        largest = fmaxf(largest, v.of[k]);
    }
    return largest;
}

// What is known of them is forgotten: the compiler would rather keep the floats of an earlier use, in more registers.
template <class E>
__device__ __forceinline__ void forget(Packed<E> &packed) {
    asm volatile("" : "+r"(packed.words.x), "+r"(packed.words.y), "+r"(packed.words.z), "+r"(packed.words.w));
}

// How many blocks a multiprocessor shall run at once whose threads hold so many packed vectors.
constexpr int resident_packed_blocks(int threads, int vectors) {
    return (vectors <= 4 ? 1536 : 1024) / threads < 16 ? (vectors <= 4 ? 1536 : 1024) / threads : 16;
}

// A row that a block, or the blocks of a cluster, hold in registers as it lies in memory, and of its edge an element a thread.
template <class E, int THREADS, int VECTORS, int CLUSTER = 1>
struct HeldRow {
    static constexpr int width = Vector<E>::width;
    BlockRow<E> row;
    Packed<E> held[VECTORS];
    int begin;  // the first vector of this block
    int count;  // its vectors, ranges [0, THREADS * VECTORS]
    int col;  // of this thread's element of the edge, or -1
    float edge;

    // What pads the row is `padding`.
    __device__ __forceinline__ HeldRow(const E *x, int cols, Packed<E> padding, float padding_of_edge)
        : row(x, blockIdx.x / CLUSTER, cols), begin(0), count(row.vectors) {
        const int rank = CLUSTER == 1 ? 0 : blockIdx.x % CLUSTER;
        if constexpr (CLUSTER > 1) {
            const int share = (row.vectors + 4 * CLUSTER - 1) / (4 * CLUSTER) * 4;  // no two blocks have parts of 64 bytes
            begin = min(rank * share, row.vectors);
            count = min(share, row.vectors - begin);
        }
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            held[k] = has(k) ? packed_at(row.x, k) : padding;
        }
        col = rank == 0 ? row.edge(threadIdx.x) : -1;
        edge = row.element(col, padding_of_edge);
    }

    __device__ __forceinline__ bool has(int k) const {
        return static_cast<int>(threadIdx.x) + k * THREADS < count;
    }

    __device__ __forceinline__ int place(int k) const {
        return row.head + width * (begin + static_cast<int>(threadIdx.x)) + width * k * THREADS;
    }

    // The vector of another row of as many elements that belongs to vector k; it begins at 16 bytes, as this row does.
    __device__ __forceinline__ Packed<E> packed_at(const E *other, int k) const {
        return {*reinterpret_cast<const uint4 *>(kept(other + place(0) + width * k * THREADS))};
    }

    __device__ __forceinline__ Vector<E> floats(int k) const {
        return floats_in(held[k]);
    }

    __device__ __forceinline__ void forget(int k) {
        ::forget(held[k]);
    }
};

// A block of a cluster writes into the memory of others only when all have begun: they say so at once, and ask later.
template <int CLUSTER>
__device__ __forceinline__ void begin_together() {
    if constexpr (CLUSTER > 1) {
        cooperative_groups::this_cluster().barrier_arrive();
    }
}

template <int CLUSTER>
__device__ __forceinline__ void all_have_begun() {
    if constexpr (CLUSTER > 1) {
        cooperative_groups::this_cluster().barrier_wait();
    }
}

// Where the warps of a row leave a result for each other, in shared memory. In a cluster each warp tells all blocks.
template <class T, int THREADS, int CLUSTER = 1>
struct OfWarps {
    static constexpr int warps = THREADS / 32, all = warps * CLUSTER, lanes = all < 32 ? all : 32;
    T of[all];

    // All lanes of a warp have `value`. When it returns, `of` has the results of all warps. For one call alone.
    __device__ __forceinline__ void tell(T value) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        if constexpr (CLUSTER > 1) {
            cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
            if (lane < CLUSTER) {
                cluster.map_shared_rank(of, lane)[cluster.block_rank() * warps + warp] = value;
            }
            cluster.sync();
        } else {
            if (lane == 0) {
                of[warp] = value;
            }
            __syncthreads();
        }
    }
};

// The sum over all threads of a row; every thread ends with it. `of_warps` is for one call alone.
template <int THREADS, int CLUSTER>
__device__ __forceinline__ float sum_of_row(float value, OfWarps<float, THREADS, CLUSTER> &of_warps) {
    constexpr int lanes = OfWarps<float, THREADS, CLUSTER>::lanes, each = OfWarps<float, THREADS, CLUSTER>::all / lanes;
    of_warps.tell(lanes_sum<32>(value));
    float sums[each];
#pragma unroll
    for (int k = 0; k < each; ++k) {
        sums[k] = of_warps.of[threadIdx.x % lanes + k * lanes];
    }
#pragma unroll
    for (int half = each / 2; half > 0; half /= 2) {
#pragma unroll
        for (int k = 0; k < half; ++k) {
            sums[k] += sums[k + half];
        }
    }
    return lanes_sum<lanes>(sums[0]);
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
