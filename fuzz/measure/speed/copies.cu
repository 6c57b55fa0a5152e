// Copies of 16 bytes at a time, in several shapes: the best of them is the best that a GPU's memory does for as many bytes in
// as out.
//
// cudaMemcpyAsync alone is not a good measure: as a node of a graph it falls to 2.7 TB/s from 512 MB on, on a GPU whose copy
// kernels reach 4.2. If the data does not fit into the second-level cache, the copy that asks the cache to keep what it reads
// is faster by 1.5 %.

#include <cuda/annotated_ptr>

enum Loads { KEPT, PLAIN, STREAMED };

template <Loads LOADS>
__device__ __forceinline__ float4 load(const float4 *from) {
    if (LOADS == STREAMED) {
        return __ldcs(from);
    }
    return LOADS == KEPT ? *cuda::associate_access_property(from, cuda::access_property::persisting{}) : *from;
}

template <int THREADS, int VECTORS, Loads LOADS>
__global__ void __launch_bounds__(THREADS) copy(float4 *y, const float4 *x, size_t n) {
    // y and x are (n)
    const size_t first = static_cast<size_t>(blockIdx.x) * THREADS * VECTORS + threadIdx.x;
    float4 some[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (first + k * THREADS < n) {
            some[k] = load<LOADS>(x + first + k * THREADS);
        }
    }
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (first + k * THREADS < n && LOADS == STREAMED) {
            __stcs(y + first + k * THREADS, some[k]);
        } else if (first + k * THREADS < n) {
            y[first + k * THREADS] = some[k];
        }
    }
}
