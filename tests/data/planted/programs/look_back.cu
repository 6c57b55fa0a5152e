// Blocks take numbers and wait for the one before. With the bug, the sum is told before it is there.
// class: look-back; finds: race; grid: 8
// y: f32[8 * T]; x: in f32[8 * T]; sums: f32[8]; ready: i32[8] = 0; ticket: u32[1] = 0
__global__ void k(float *y, const float *x, float *sums, int *ready, unsigned *ticket) {
    __shared__ int number;
    __shared__ float before;
    __shared__ float s[1024];
    const int t = threadIdx.x;
    if (t == 0) {
        number = atomicAdd(ticket, 1u);
    }
    __syncthreads();
    s[t] = x[number * blockDim.x + t];
    __syncthreads();
    if (t == 0) {
        float own = 0.0f, sum = 0.0f;
        for (int i = 0; i < blockDim.x; i++) {
            own += s[i];
        }
        if (number > 0) {
            while (atomicAdd(&ready[number - 1], 0) == 0) {
            }
            __threadfence();
            sum = sums[number - 1];
        }
#ifdef BUG
        atomicExch(&ready[number], 1);
        sums[number] = sum + own;
#else
        sums[number] = sum + own;
        __threadfence();
        atomicExch(&ready[number], 1);
#endif
        before = sum;
    }
    __syncthreads();
    y[number * blockDim.x + t] = s[t] + before;
}
