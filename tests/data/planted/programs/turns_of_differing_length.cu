// All threads take as many turns as the longest. With the bug, as many as each has work for.
// class: barriers; finds: divergent-barrier; grid: 1
// y: f32[T]; x: in u32[T]
__global__ void k(float *y, const unsigned *x) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    float sum = 0;
    s[t] = t;
    __syncthreads();
#ifdef BUG
    for (unsigned i = 0; i < 1 + t % 2; i++) {
#else
    for (unsigned i = 0; i < 2; i++) {
#endif
        sum += s[(t + i) % blockDim.x] + x[t];
        __syncthreads();
        s[t] = sum;
        __syncthreads();
    }
    y[t] = sum;
    __syncthreads();
}
