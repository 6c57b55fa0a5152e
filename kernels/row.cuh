// The common part of the fast kernels: a row in vectors of 16 bytes at any alignment, and reductions of lanes and blocks.
//
// A row begins where the one before it ends, so that its vectors begin after a head of single
// elements and leave a tail. Head and tail together are the row's edge, one element a worker.
#pragma once

#include "kept.cuh"

template <class E>
struct Vector {
    // 16 bytes of E, as floats
    static constexpr int width = 16 / sizeof(E);
    float of[width];
};

// What is streamed is the first to leave the caches: a gain of 3 points where x and y together fit into them, and a loss of
// up to 6 where they do not. There a row is kept, and what is written is not. Between the two, where x alone fits, it is best
// to ask for nothing: a point of 1024 x 10240 columns.
enum Loads { KEPT, PLAIN, STREAMED };

template <bool IS_STREAMED = false>
__device__ __forceinline__ void widen(Vector<float> &v, const float *from) {
    const float4 *place = reinterpret_cast<const float4 *>(from);
    const float4 q = IS_STREAMED ? __ldcs(place) : *place;
    v.of[0] = q.x;
    v.of[1] = q.y;
    v.of[2] = q.z;
    v.of[3] = q.w;
}

template <bool IS_STREAMED = false>
__device__ __forceinline__ void narrow(float *to, const Vector<float> &v) {
    float4 *place = reinterpret_cast<float4 *>(to);
    const float4 q = make_float4(v.of[0], v.of[1], v.of[2], v.of[3]);
    if (IS_STREAMED) {
        __stcs(place, q);
    } else {
        *place = q;
    }
}

template <class E, int BYTES = 16>
struct Row {
    // Of a row of x: [0, head) and what lies behind the vectors is its edge. The vectors begin at a multiple of BYTES.
    static constexpr int width = Vector<E>::width;
    static constexpr int line = BYTES / sizeof(E);
    const E *x;
    int cols;
    int head;  // elements, ranges [0, min(line - 1, cols)]
    int vectors;  // ranges [0, cols / width]

    __device__ __forceinline__ Row(const E *x, size_t row, int cols) : x(x + row * cols), cols(cols) {
        const unsigned int before = -static_cast<unsigned int>(reinterpret_cast<size_t>(this->x)) % BYTES / sizeof(E);
        head = min(static_cast<int>(before), cols);
        vectors = static_cast<unsigned int>(cols - head) / width;
    }

    // The column of the edge that is this worker's, or -1. There are line + width - 2 of them at most.
    __device__ __forceinline__ int edge(int worker) const {
        const int col = worker < head ? worker : worker + width * vectors;
        return col < cols ? col : -1;
    }

    // The element in this column of the edge, or `padding` where there is none. What shares 32 bytes of memory with vectors is
    // streamed where they are: two ways of one such piece cost 3 points of 1024 x 1023 columns.
    template <Loads LOADS = KEPT>
    __device__ __forceinline__ float element(int col, float padding) const {
        if (col < 0) {
            return padding;
        }
        return static_cast<float>(LOADS == STREAMED ? __ldcs(x + col) : LOADS == KEPT ? *kept(x + col) : x[col]);
    }

    // Vector `first + further`. Where `further` is a constant, its address costs no arithmetic.
    template <Loads LOADS = KEPT>
    __device__ __forceinline__ Vector<E> load(int first, int further = 0) const {
        Vector<E> v;
        const E *from = x + head + width * first + width * further;
        widen<LOADS == STREAMED>(v, LOADS == KEPT ? kept(from) : from);
        return v;
    }
};

// A row for a block, which has a thread for each element of a longer edge. Its vectors begin at 64 bytes, so that two
// warps never write halves of the same 32 bytes of memory: 1 to 2 % where rows are not aligned.
template <class E>
using BlockRow = Row<E, 64>;

// Whether vectors of the row begin at 16 bytes in y, too: its base may be misplaced otherwise than that of x.
template <class E>
__device__ __forceinline__ bool is_placed_alike(const E *y, const E *x) {
    return (reinterpret_cast<size_t>(y) - reinterpret_cast<size_t>(x)) % 16 == 0;
}

template <class E>
__device__ __forceinline__ void store_singly(E *to, const Vector<E> &v) {
#pragma unroll
    for (int k = 0; k < Vector<E>::width; ++k) {
        to[k] = static_cast<E>(v.of[k]);
    }
}

// An element of the edge; a column of -1 is none.
template <bool IS_STREAMED = false, class E>
__device__ __forceinline__ void store_edge(E *y, int col, float value) {
    if (col >= 0 && IS_STREAMED) {
        __stcs(y + col, static_cast<E>(value));
    } else if (col >= 0) {
        y[col] = static_cast<E>(value);
    }
}

template <class E>
__device__ __forceinline__ Vector<E> scaled(Vector<E> v, float scale) {
#pragma unroll
    for (int k = 0; k < Vector<E>::width; ++k) {
        v.of[k] *= scale;
    }
    return v;
}

// e^x as exactly as an E can hold it; sixteen_bits.cuh has a faster one for elements of 16 bits.
template <class E>
__device__ __forceinline__ float exponential(float x) {
    return expf(x);
}

// e^x as a term of a sum of at least 1, in which less than 2^-126 counts for nothing.
template <class E>
__device__ __forceinline__ float term_exponential(float x) {
    return exponential<E>(x);
}

// e^x times LIFT, for an answer that is divided by LIFT as well: so no answer that an E can hold is lost as a denormal float.
template <class E>
constexpr float LIFT = 1.0f;

template <class E>
__device__ __forceinline__ float lifted_exponential(float x) {
    return exponential<E>(x);
}

// How many threads a multiprocessor shall run at once, by the floats that one holds: of 65536 registers each gets 40 for up
// to 12 floats, 48 for 16, 64 for 40, and 128 for more; blocks of 128 get 96 for 64, which lets a fifth of them run. Of 8
// floats 32 are enough for blocks of 512, of which it then runs a fourth. More than 16 blocks at once, of 64 threads, gain
// nothing.
constexpr int resident_threads(int threads, int floats) {
    return floats <= 8 && threads >= 512     ? 2048
           : floats <= 12                    ? 1536
           : floats <= 16                    ? 1280
           : floats <= 40                    ? 1024
           : floats <= 64 && threads <= 128 ? 640
                                             : 512;
}

constexpr int resident_blocks(int threads, int floats) {
    return threads * 16 <= resident_threads(threads, floats) ? 16 : resident_threads(threads, floats) / threads;
}

template <int LANES>
__device__ __forceinline__ float lanes_max(float value) {
    // all 32 lanes take part, in groups of LANES; every lane ends with its group's
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, mask));
    }
    return value;
}

template <int LANES>
__device__ __forceinline__ float lanes_sum(float value) {
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

// Of so few warps every thread reads all results: that takes less time than the shuffles of as many lanes.
constexpr int AT_ONCE = 8;

// What a maximum of nothing but -inf is replaced by before it is subtracted: -inf - -inf would be NaN.
__device__ __forceinline__ float finite_or_zero(float max) {
    return max == -INFINITY ? 0.0f : max;
}

// The bits of a float as an integer that is as much larger as the float is, and back again.
__device__ __forceinline__ int ordered(int bits) {
    return bits ^ (bits >> 31 & 0x7fffffff);
}

// The maximum of all 32 lanes, none of them NaN: integers are compared by one instruction, where floats take five shuffles.
__device__ __forceinline__ float warp_max(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return lanes_max<32>(value);  // older GPUs have no such instruction
#else
    const int max = __reduce_max_sync(0xffffffffu, ordered(__float_as_int(value)));
    return __int_as_float(ordered(max));
#endif
}

template <int THREADS>
__device__ __forceinline__ float block_max(float value, float (&of_warp)[32]) {
    // all THREADS of the block take part; every thread ends with the result. `of_warp` is for one call alone.
    constexpr int warps = THREADS / 32;
    value = warp_max(fmaxf(value, -INFINITY));
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if constexpr (warps > AT_ONCE) {
        return lanes_max<warps>(of_warp[threadIdx.x % warps]);
    } else {
        value = of_warp[0];
#pragma unroll
        for (int k = 1; k < warps; ++k) {
            value = fmaxf(value, of_warp[k]);
        }
        return value;
    }
}

template <int THREADS>
__device__ __forceinline__ float block_sum(float value, float (&of_warp)[32]) {
    constexpr int warps = THREADS / 32;
    value = lanes_sum<32>(value);
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if constexpr (warps > AT_ONCE) {
        return lanes_sum<warps>(of_warp[threadIdx.x % warps]);
    } else {
        float sums[warps];
#pragma unroll
        for (int k = 0; k < warps; ++k) {
            sums[k] = of_warp[k];
        }
#pragma unroll
        for (int half = warps / 2; half > 0; half /= 2) {
#pragma unroll
            for (int k = 0; k < half; ++k) {
                sums[k] += sums[k + half];
            }
        }
        return sums[0];
    }
}
