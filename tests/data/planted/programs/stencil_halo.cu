// A halo is loaded by the first threads. With the bug, nobody waits for it.
// class: tiles; finds: race; grid: 2
// y: f32[2 * T]; x: in f32[2 * T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[1026];
    const int t = threadIdx.x, n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + t;
    s[t + 1] = x[i];
#ifndef BUG
    if (t == 0) {
        s[0] = i > 0 ? x[i - 1] : 0.0f;
        s[blockDim.x + 1] = i + (int)blockDim.x < n ? x[i + blockDim.x] : 0.0f;
    }
#endif
    __syncthreads();
#ifdef BUG
    if (t == 0) {
        s[0] = i > 0 ? x[i - 1] : 0.0f;
        s[blockDim.x + 1] = i + (int)blockDim.x < n ? x[i + blockDim.x] : 0.0f;
    }
#endif
    y[i] = s[t] + s[t + 1] + s[t + 2];
}
