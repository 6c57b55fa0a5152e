// The rows of a cluster, one after the other. A block has the same columns of each row, so that its part of the weights stays in
// shared memory: read from the second-level cache for each row, two arrays are twice as many bytes as the row itself.
#pragma once

#include "held_row.cuh"

// Requests 16 bytes for shared memory, without registers; the second-level cache is asked to keep them.
__device__ __forceinline__ void copy_kept(uint4 *to, const void *from, unsigned long long policy) {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "l"(policy) : "memory");
}

__device__ __forceinline__ unsigned long long policy_to_keep() {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
    return policy;
}

// Until all that this thread has requested is in shared memory.
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// How many blocks a multiprocessor shall run at once, by registers and by what shared memory holds: so many arrays of a row.
constexpr int resident_rows(int threads, int vectors, int arrays) {
    const int room = 14336 / (arrays * vectors * threads > 0 ? arrays * vectors * threads : 1);  // 224 KB, of 16 bytes
    const int blocks = 8192 / (vectors * threads);
    return room < 1 ? 1 : room < blocks ? room : blocks;
}

// ROWS of them at most. Registers hold one. If IS_AHEAD, the next is on its way into shared memory meanwhile. KEPT arrays of one
// row are kept, unless there is one row alone.
template <class E, int THREADS, int VECTORS, int CLUSTER, int ROWS, bool IS_AHEAD, int KEPT>
struct RowsOfCluster : PartOfRow<E, THREADS, CLUSTER> {
    using Part = PartOfRow<E, THREADS, CLUSTER>;
    using Part::has;
    static constexpr int vectors = VECTORS, EARLY = ROWS > 1 ? 0 : KEPT == 1 ? 2 : 1;
    Packed<E> held[VECTORS];
    float edge;
    int index;  // of the row

    // Each row has a meeting of its own.
    template <class Meeting>
    __device__ __forceinline__ RowsOfCluster(Meeting (&meetings)[ROWS], const E *x, int cols)
        : Part(x, blockIdx.x / CLUSTER, cols), step(gridDim.x / CLUSTER), next(*this), policy(policy_to_keep()) {
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
            meetings[k].begin();
        }
        begin_together<CLUSTER>();
        index = static_cast<int>(blockIdx.x / CLUSTER) - step;
        alike = ROWS > 1 && cols * static_cast<int>(sizeof(E)) % 64 == 0;
        if constexpr (IS_AHEAD) {
            request();
        } else {
            load();
        }
    }

    // Array `which` of one row, of which it keeps this block's part if all rows begin alike. With one row alone there is nothing
    // to keep, but the first vectors are requested together with the row.
    __device__ __forceinline__ void keep(int which, const E *array) {
        const bool is_aligned = is_placed_alike(array, this->row.x);
        keeps[which] = alike && is_aligned;
#pragma unroll
        for (int k = 0; k < EARLY; ++k) {
            if (is_aligned && has(k)) {
                early[which][k] = this->packed_at(array, k);
            }
        }
        if constexpr (ROWS > 1) {
#pragma unroll
            for (int k = 0; k < VECTORS; ++k) {
                if (keeps[which] && has(k)) {
                    copy_kept(slot(k, IS_AHEAD + which), this->at(array, k), policy);
                }
            }
        }
    }

    // The next row, padded with zeros; false after the last.
    __device__ __forceinline__ bool take_row(const E *x, int rows, int cols) {
        const bool is_first = index < 0;
        index += step;
        if (index >= rows) {
            return false;
        }
        if constexpr (IS_AHEAD) {
            static_cast<Part &>(*this) = next;
            edge = this->row.element(this->col, 0.0f);
            wait_for_copies();
#pragma unroll
            for (int k = 0; k < VECTORS; ++k) {
                held[k] = has(k) ? Packed<E>{*slot(k, 0)} : packed_zeros<E>();
            }
            if (step < rows - index) {
                next = Part(x, index + step, cols);
                request();
            }
        } else {
            if (!is_first) {
                static_cast<Part &>(*this) = Part(x, index, cols);
                load();
            }
            if constexpr (ROWS > 1) {
                wait_for_copies();
            }
        }
        return true;
    }

    __device__ __forceinline__ Vector<E> floats(int k) const {
        return floats_in(held[k]);
    }

    __device__ __forceinline__ void forget(int k) {
        ::forget(held[k]);
    }

    __device__ __forceinline__ Vector<E> kept_floats(int which, const E *array, int k) const {
        if (keeps[which]) {
            return floats_in(Packed<E>{*slot(k, IS_AHEAD + which)});
        }
        if (!is_placed_alike(array, this->row.x)) {
            return load_singly(array + this->place(k));
        }
        return floats_in(k < EARLY ? early[which][k < EARLY ? k : 0] : this->packed_at(array, k));
    }

  private:
    int step;  // from a row of this cluster to the next
    Part next;
    unsigned long long policy;
    bool alike;  // all rows begin alike
    bool keeps[KEPT];
    Packed<E> early[KEPT][EARLY > 0 ? EARLY : 1];

    __device__ __forceinline__ void load() {
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            held[k] = has(k) ? this->packed_at(this->row.x, k) : packed_zeros<E>();
        }
        edge = this->row.element(this->col, 0.0f);
    }

    __device__ __forceinline__ void request() {
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            if (next.has(k)) {
                copy_kept(slot(k, 0), next.at(next.row.x, k), policy);
            }
        }
    }

    // Of this thread: no other uses it.
    __device__ __forceinline__ uint4 *slot(int k, int array) const {
        extern __shared__ uint4 packed_in_shared[];  // (IS_AHEAD + KEPT, VECTORS, THREADS)
        return packed_in_shared + (array * VECTORS + k) * THREADS + threadIdx.x;
    }
};
