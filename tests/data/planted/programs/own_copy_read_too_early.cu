// Every thread copies one element, waits, and reads it. With the bug, it arrives at the barrier and does not wait.
// class: asynchronous copies; finds: uninitialised; grid: 2
// y: f32[2 * T]; x: in f32[2 * T]
#include <cuda/barrier>

__global__ void k(float *y, const float *x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> copied;
    __shared__ float tile[1024];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) {
        init(&copied, blockDim.x);
    }
    __syncthreads();
    cuda::memcpy_async(&tile[t], &x[i], sizeof(float), copied);
    auto token = copied.arrive();
#ifndef BUG
    copied.wait(std::move(token));
#else
    (void)token;
#endif
    y[i] = 2.0f * tile[t];
}
