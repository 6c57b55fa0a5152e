// A loop whose barriers all threads pass. With the bug, its length differs among them, and so do its rounds.
// class: barriers; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    s[t] = x[t];
    for (int round = 0; round < 3; round++) {
        __syncthreads();
        const float other = s[(t + 1) % blockDim.x];
#ifdef BUG
        if (round > 0) {
            __syncthreads();
        }
#else
        __syncthreads();
#endif
        s[t] = other;
    }
    y[t] = s[t];
}
