// Three stages of cp.async by the pipeline primitives: each thread reads what another has copied, behind a barrier. With the
// bug, each waits for one batch less.
// class: asynchronous copies; finds: uninitialised; grid: 2
// y: f32[2 * T]; x: in f32[16 * T]
#include <cuda_pipeline.h>
__global__ void k(float *y, const float *x) {
    __shared__ float stage[3][1024];
    const int t = threadIdx.x, n = blockDim.x;
    x += blockIdx.x * 8 * n;
    for (int i = 0; i < 2; ++i) {
        __pipeline_memcpy_async(&stage[i][t], &x[i * n + t], sizeof(float));
        __pipeline_commit();
    }
    float sum = 0.0f;
    for (int i = 0; i < 8; ++i) {
#ifdef BUG
        __pipeline_wait_prior(2);
#else
        __pipeline_wait_prior(1);
#endif
        __syncthreads();
        if (i + 2 < 8) __pipeline_memcpy_async(&stage[(i + 2) % 3][t], &x[(i + 2) * n + t], sizeof(float));
        __pipeline_commit();
        sum += stage[i % 3][n - 1 - t];
    }
    y[blockIdx.x * n + t] = sum;
}
