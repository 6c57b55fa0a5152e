// Four numbers at once, by a pipeline of the thread. With the bug, the consumer does not wait.
// class: asynchronous copies; finds: uninitialised; grid: 1
// y: f32[4 * T]; x: in f32[4 * T]
#include <cuda/pipeline>

__global__ void k(float *y, const float *x) {
    __shared__ alignas(16) float tile[4096];
    const int t = threadIdx.x;
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[4 * t], &x[4 * t], cuda::aligned_size_t<16>(4 * sizeof(float)), pipe);
    pipe.producer_commit();
#ifndef BUG
    pipe.consumer_wait();
#endif
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        y[4 * t + i] = 1.0f + tile[4 * (blockDim.x - 1 - t) + i];
    }
    pipe.consumer_release();
}
