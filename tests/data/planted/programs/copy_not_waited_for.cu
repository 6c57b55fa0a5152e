// Each thread waits for what it has copied, then the block for all. With the bug, nobody waits for the copies.
// class: asynchronous copies; finds: uninitialised; grid: 2
// y: f32[2 * T]; x: in f32[2 * T]
#include <cuda_pipeline.h>

__global__ void k(float *y, const float *x) {
    __shared__ float tile[1024];
    const int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    __pipeline_memcpy_async(&tile[t], &x[first + t], sizeof(float));
    __pipeline_commit();
#ifndef BUG
    __pipeline_wait_prior(0);
#endif
    __syncthreads();
    y[first + t] = 1.0f + tile[blockDim.x - 1 - t];
}
