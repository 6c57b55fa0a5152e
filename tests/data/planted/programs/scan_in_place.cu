// A scan reads, waits, then writes. With the bug, it writes at once.
// class: barriers; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int far = 1; far < blockDim.x; far *= 2) {
        const float other = t >= far ? s[t - far] : 0.0f;
#ifndef BUG
        __syncthreads();
#endif
        s[t] += other;
        __syncthreads();
    }
    y[t] = s[t];
}
