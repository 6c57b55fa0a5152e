// A stage is copied over when all have read it. With the bug, while some still read.
// class: asynchronous copies; finds: race; grid: 1
// y: f32[T]; x: in f32[4 * T]
#include <cuda_pipeline.h>

__global__ void k(float *y, const float *x) {
    __shared__ float tile[1024];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int stage = 0; stage < 4; stage++) {
        __pipeline_memcpy_async(&tile[t], &x[stage * blockDim.x + t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += tile[blockDim.x - 1 - t];
#ifndef BUG
        __syncthreads();
#endif
    }
    y[t] = sum;
}
