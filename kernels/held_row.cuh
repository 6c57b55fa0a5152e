// A row that a block, or the blocks of a cluster, hold in registers, and what its warps say to each other.
#pragma once

#include <cuda/ptx>

#include "packed.cuh"

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

// What is known of them is forgotten: the compiler would rather keep the floats of an earlier use, in more registers.
template <class E>
__device__ __forceinline__ void forget(Packed<E> &packed) {
    asm volatile("" : "+r"(packed.words.x), "+r"(packed.words.y), "+r"(packed.words.z), "+r"(packed.words.w));
}

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
