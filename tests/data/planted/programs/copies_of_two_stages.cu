// While one stage is read, the next is copied. With the bug, the wait leaves out the stage that is needed.
// class: asynchronous copies; finds: uninitialised; grid: 1
// y: f32[T]; x: in f32[8 * T]
#include <cuda_pipeline.h>

__global__ void k(float *y, const float *x) {
    __shared__ float tile[2][1024];
    const int t = threadIdx.x, stages = 8;
    __pipeline_memcpy_async(&tile[0][t], &x[t], sizeof(float));
    __pipeline_commit();
    float sum = 0.0f;
    for (int stage = 0; stage < stages; stage++) {
        if (stage + 1 < stages) {
            __pipeline_memcpy_async(&tile[(stage + 1) % 2][t], &x[(stage + 1) * blockDim.x + t], sizeof(float));
        }
        __pipeline_commit();
#ifdef BUG
        __pipeline_wait_prior(2);
#else
        __pipeline_wait_prior(1);
#endif
        __syncthreads();
        sum += tile[stage % 2][blockDim.x - 1 - t];
        __syncthreads();
    }
    y[t] = sum;
}
