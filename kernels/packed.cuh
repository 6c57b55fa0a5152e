// Vectors of 16 bytes as they lie in memory: elements of 16 bits take half of the registers that their floats take.
#pragma once

#include <cuda/ptx>

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

// What is known of them is forgotten: the compiler would rather keep the floats of an earlier use, in more registers.
template <class E>
__device__ __forceinline__ void forget(Packed<E> &packed) {
    asm volatile("" : "+r"(packed.words.x), "+r"(packed.words.y), "+r"(packed.words.z), "+r"(packed.words.w));
}

// How many blocks a multiprocessor shall run at once whose threads hold so many packed vectors.
constexpr int resident_packed_blocks(int threads, int vectors) {
    const int blocks = (vectors <= 4 ? 1536 : vectors <= 8 ? 1024 : 512) / threads;
    return blocks < 1 ? 1 : blocks < 16 ? blocks : 16;
}

// An address in shared memory as PTX takes it.
__device__ __forceinline__ unsigned int shared_address(const void *at) {
    return static_cast<unsigned int>(__cvta_generic_to_shared(at));
}

// The part of a row that a block has, which may be one of the blocks of a cluster; a thread has each THREADS-th vector of it.
template <class E, int THREADS, int CLUSTER = 1>
struct PartOfRow {
    static constexpr int width = Vector<E>::width;
    BlockRow<E> row;
    int begin;  // the first vector of this block
    int count;  // its vectors
    int col;  // of this thread's element of the edge, or -1

    __device__ __forceinline__ PartOfRow(const E *x, int index, int cols) : row(x, index, cols), begin(0), count(row.vectors) {
        const int rank = CLUSTER == 1 ? 0 : blockIdx.x % CLUSTER;
        if constexpr (CLUSTER > 1) {
            const int share = (row.vectors + 4 * CLUSTER - 1) / (4 * CLUSTER) * 4;  // no two blocks have parts of 64 bytes
            begin = min(rank * share, row.vectors);
            count = min(share, row.vectors - begin);
        }
        col = rank == 0 ? row.edge(threadIdx.x) : -1;
    }

    __device__ __forceinline__ bool has(int k) const {
        return static_cast<int>(threadIdx.x) + k * THREADS < count;
    }

    __device__ __forceinline__ int place(int k) const {
        return row.head + width * (begin + static_cast<int>(threadIdx.x)) + width * k * THREADS;
    }

    // Where vector k lies in another row of as many elements; it begins at 16 bytes, as this row does.
    __device__ __forceinline__ const E *at(const E *other, int k) const {
        return other + place(0) + width * k * THREADS;
    }

    __device__ __forceinline__ Packed<E> packed_at(const E *other, int k) const {
        return {*reinterpret_cast<const uint4 *>(kept(at(other, k)))};
    }
};

// A part that a thread holds in registers, as it lies in memory.
template <class E, int THREADS, int VECTORS, int CLUSTER = 1>
struct HeldRow : PartOfRow<E, THREADS, CLUSTER> {
    using Part = PartOfRow<E, THREADS, CLUSTER>;
    static constexpr int vectors = VECTORS;
    Packed<E> held[VECTORS];
    float edge;

    // What pads the row is `padding`.
    __device__ __forceinline__ HeldRow(const E *x, int cols, Packed<E> padding, float padding_of_edge)
        : Part(x, blockIdx.x / CLUSTER, cols) {
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            held[k] = Part::has(k) ? Part::packed_at(Part::row.x, k) : padding;
        }
        edge = Part::row.element(Part::col, padding_of_edge);
    }

    __device__ __forceinline__ Vector<E> floats(int k) const {
        return floats_in(held[k]);
    }

    __device__ __forceinline__ void forget(int k) {
        ::forget(held[k]);
    }
};

// Where the warps of a row leave a result for each other, in shared memory. In a cluster each warp stores it into the memory of
// all blocks, where an mbarrier counts the bytes. cluster.sync() in its place took 7 to 22 % of the time at 262,144 columns:
// each thread waits until all that it has stored, also to global memory, is visible on the whole GPU (MEMBAR.ALL.GPU).
template <class T, int THREADS, int CLUSTER = 1>
struct OfWarps {
    static constexpr int warps = THREADS / 32, all = warps * CLUSTER, lanes = all < 32 ? all : 32;
    T of[all];
    uint64_t has_come;

    // A block is written to only when it has begun: it says so at once, and asks for it later.
    __device__ __forceinline__ void begin() {
        if constexpr (CLUSTER > 1) {
            if (threadIdx.x == 0) {
                cuda::ptx::mbarrier_init(&has_come, 1);
                cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
                cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared,
                                                     &has_come, static_cast<uint32_t>(sizeof(of)));
            }
        }
    }

    // All lanes of a warp have `value`. When it returns, `of` has the results of all warps. For one call alone.
    __device__ __forceinline__ void tell(T value) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        if constexpr (CLUSTER > 1) {
            if (lane < CLUSTER) {
                store(value, shared_address(&of[blockIdx.x % CLUSTER * warps + warp]), lane);
            }
            while (!cuda::ptx::mbarrier_try_wait_parity(&has_come, 0)) {
            }
        } else {
            if (lane == 0) {
                of[warp] = value;
            }
            __syncthreads();
        }
    }

  private:
    __device__ __forceinline__ void store(const T &value, unsigned int to, unsigned int block) {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "what st.async stores");
        unsigned int barrier;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(to), "r"(block));
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(shared_address(&has_come)), "r"(block));
        const float *const parts = reinterpret_cast<const float *>(&value);
        if constexpr (sizeof(T) == 4) {
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(to), "f"(parts[0]), "r"(barrier) : "memory");
        } else if constexpr (sizeof(T) == 8) {
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(to),
                         "f"(parts[0]), "f"(parts[1]), "r"(barrier)
                         : "memory");
        } else {
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
                         "f"(parts[0]), "f"(parts[1]), "f"(parts[2]), "f"(parts[3]), "r"(barrier)
                         : "memory");
        }
    }
};

// The blocks of a cluster say that they have begun, and that their barriers are ready; no memory is waited for.
template <int CLUSTER>
__device__ __forceinline__ void begin_together() {
    if constexpr (CLUSTER > 1) {
        cuda::ptx::barrier_cluster_arrive(cuda::ptx::sem_relaxed);
    }
}

template <int CLUSTER>
__device__ __forceinline__ void all_have_begun() {
    if constexpr (CLUSTER > 1) {
        cuda::ptx::barrier_cluster_wait();
    }
}

// The sum of a few terms, by halves.
template <int N>
__device__ __forceinline__ float halved_sum(float (&terms)[N]) {
#pragma unroll
    for (int half = N / 2; half > 0; half /= 2) {
#pragma unroll
        for (int k = 0; k < half; ++k) {
            terms[k] += terms[k + half];
        }
    }
    return terms[0];
}

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
    return lanes_sum<lanes>(halved_sum(sums));
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
