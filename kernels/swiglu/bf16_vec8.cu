// SwiGLU in bfloat16, eight elements a load: y = a sigmoid(a) b, in float between load and store.
//
// Two elements a load, as in bf16_pairs, are too few requests for the memory: .85 of a copy on an H100. Row lengths are a
// multiple of eight, as hidden sizes are, so that the arrays are vectors from their first element to their last, and a
// thread takes two of them, a block's length apart.
//
// /// kernel
// op     = "swiglu"
// axes   = { rows = "1..1048576", cols = { min = 8, max = 1048576, multiple = 8 } }
// tune   = { threads = [128, 256, 512] }
// arrays = { a = "bf16[rows, cols] -> a", b = "bf16[rows, cols] -> b", y = "bf16[rows, cols] <- y" }
// align  = 16
// launch = [{ grid = "ceil_div(vectors, 2 * threads)", block = "threads" }]
//
// [let]
// vectors = "rows * cols / 8"
//
// [accuracy]
// form   = "a sigmoid(a)"
// exp    = "__expf"
// divide = "ieee"
// ///

#include "../packed.cuh"

__device__ __forceinline__ float silu(float x) {
    return x * (1.0f / (1.0f + __expf(-x)));
}

__global__ void swiglu_bf16_vec8(__nv_bfloat16 *y, const __nv_bfloat16 *a, const __nv_bfloat16 *b, long long vectors) {
    // y, a and b have `vectors` of 8 elements
    using E = __nv_bfloat16;
    const long long first = 2ll * blockDim.x * blockIdx.x + threadIdx.x;
    Packed<E> of_a[2], of_b[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const long long i = first + k * blockDim.x;
        if (i < vectors) {
            of_a[k].words = reinterpret_cast<const uint4 *>(a)[i];
            of_b[k].words = reinterpret_cast<const uint4 *>(b)[i];
        }
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const long long i = first + k * blockDim.x;
        if (i < vectors) {
            Vector<E> v = floats_in(of_a[k]);
            const Vector<E> by = floats_in(of_b[k]);
#pragma unroll
            for (int j = 0; j < Vector<E>::width; ++j) {
                v.of[j] = silu(v.of[j]) * by.of[j];
            }
            narrow(y + 8 * i, v);
        }
    }
}
