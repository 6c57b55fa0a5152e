// Each warp leaves its sum for the first one. With the bug, only the warp's own lanes wait.
// class: warps; finds: race; grid: 1
// y: f32[1]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float sums[32];
    const int t = threadIdx.x;
    float sum = x[t];
    for (int far = 16; far > 0; far /= 2) {
        sum += __shfl_down_sync(~0u, sum, far);
    }
    if (t % 32 == 0) {
        sums[t / 32] = sum;
    }
#ifdef BUG
    __syncwarp();
#else
    __syncthreads();
#endif
    if (t == 0) {
        float all = 0;
        for (int w = 0; w < blockDim.x / 32; w++) {
            all += sums[w];
        }
        y[0] = all;
    }
}
