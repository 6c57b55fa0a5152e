// Threads hand numbers round by a barrier of libcu++. With the bug, they arrive and do not wait.
// class: barriers; finds: race; grid: 2
// y: i32[2 * T]; x: in i32[2 * T]
#include <cuda/barrier>

__global__ void k(int *y, const int *x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    __shared__ int handed[1024];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) {
        init(&all, blockDim.x);
    }
    __syncthreads();
    handed[t] = x[i];
    auto token = all.arrive();
#ifndef BUG
    all.wait(std::move(token));
#endif
    y[i] = handed[(t + 33) % blockDim.x];
}
