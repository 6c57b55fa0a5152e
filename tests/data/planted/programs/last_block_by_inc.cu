// The last block of a grid, told by atomicInc, which wraps around: a barrier, then a fence by the one thread that counts.
// With the bug, that barrier is missing.
// class: last blocks; finds: race; grid: 5
// y: f32[1]; part: f32[5 * T]; x: in f32[5 * T]; count: u32[1] = 0
__global__ void k(float *y, float *part, const float *x, unsigned *count) {
    __shared__ bool last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[i] = 2.0f * x[i];
#ifndef BUG
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 33) {
        float sum = 0.0f;
        for (int j = 0; j < gridDim.x * blockDim.x; ++j) sum += part[j];
        y[0] = sum;
    }
}
