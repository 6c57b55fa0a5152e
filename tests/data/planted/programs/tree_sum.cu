// A tree sum in shared memory. With the bug, the rounds are not kept apart.
// class: barriers; finds: race; grid: 2
// y: f32[2]; x: in f32[2 * T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            s[t] += s[t + half];
        }
#ifndef BUG
        __syncthreads();
#endif
    }
    __syncthreads();
    if (t == 0) {
        y[blockIdx.x] = s[0];
    }
}
