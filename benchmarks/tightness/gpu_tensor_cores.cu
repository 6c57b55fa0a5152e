// One sum of products by the tensor cores for each case: element (0, 0) of D = A B + C, where row 0 of A and column 0 of
// B hold the case's factors, and all else is 0.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <typename T>
__device__ T narrowed(float x) {
    return T(x);
}

template <>
__device__ float narrowed<float>(float x) {
    return wmma::__float_to_tf32(x);
}

// Held: what an operand is stored as; Operand: what the fragment calls it; Sum: what is added up in
template <typename Held, typename Operand, int K, typename Sum>
__global__ void sums_of_products(float *d, const float *a, const float *b, const float *c) {
    // d and c are (cases), a and b are (cases, 16), of which the first K count; a warp a case
    __shared__ __align__(32) Held left[16 * K], right[K * 16];
    __shared__ __align__(32) Sum sums[16 * 16];
    const int one = blockIdx.x;
    for (int place = threadIdx.x; place < 16 * K; place += 32) {
        left[place] = narrowed<Held>(place < K ? a[one * 16 + place] : 0.0f);                        // (16, K) by rows
        right[place] = narrowed<Held>(place % 16 == 0 ? b[one * 16 + place / 16] : 0.0f);  // (K, 16) by rows
    }
    for (int place = threadIdx.x; place < 256; place += 32) {
        sums[place] = Sum(place == 0 ? c[one] : 0.0f);
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, K, Operand, wmma::row_major> A;
    wmma::fragment<wmma::matrix_b, 16, 16, K, Operand, wmma::row_major> B;
    wmma::fragment<wmma::accumulator, 16, 16, K, Sum> D;
    wmma::load_matrix_sync(A, left, K);
    wmma::load_matrix_sync(B, right, 16);
    wmma::load_matrix_sync(D, sums, 16, wmma::mem_row_major);
    wmma::mma_sync(D, A, B, D);
    wmma::store_matrix_sync(sums, D, 16, wmma::mem_row_major);
    __syncwarp();
    if (threadIdx.x == 0) {
        d[one] = float(sums[0]);
    }
}
