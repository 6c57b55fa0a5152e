// The last block adds up what all have left. With the bug, the fence is of block scope.
// class: last blocks; finds: race; grid: 6
// y: f32[1]; part: f32[6]; tickets: u32[1] = 0; x: in f32[6 * T]
__global__ void k(float *y, float *part, unsigned *tickets, const float *x) {
    __shared__ bool is_last;
    __shared__ float s[1024];
    const int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            s[t] += s[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
#ifdef BUG
        __threadfence_block();
#else
        __threadfence();
#endif
        is_last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < gridDim.x; i++) {
            sum += part[i];
        }
        y[0] = sum;
    }
}
