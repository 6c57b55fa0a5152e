// Neighbours swap in turns. With the bug, the turns are not kept apart.
// class: barriers; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[1024];
    const int t = threadIdx.x, n = blockDim.x;
    s[t] = x[t];
    __syncthreads();
    for (int turn = 0; turn < 6; turn++) {
        const int i = 2 * t + turn % 2;
        if (i + 1 < n && s[i] > s[i + 1]) {
            const float larger = s[i];
            s[i] = s[i + 1];
            s[i + 1] = larger;
        }
#ifndef BUG
        __syncthreads();
#endif
    }
    __syncthreads();
    y[t] = s[t];
}
