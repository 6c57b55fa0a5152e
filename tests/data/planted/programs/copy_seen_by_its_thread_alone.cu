// What a thread has waited for, it may read itself; the others need a barrier. With the bug, there is none.
// class: asynchronous copies; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
#include <cuda_pipeline.h>

__global__ void k(float *y, const float *x) {
    __shared__ float tile[1024];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
#ifndef BUG
    __syncthreads();
#endif
    y[t] = tile[blockDim.x - 1 - t];
}
