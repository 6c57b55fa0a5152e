// Threads copy eight bytes each to their neighbour's place by memcpy. With the bug, without a barrier before it is read.
// class: copies; finds: race; grid: 1
// y: f32[2 * T]; x: in f32[2 * T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[2048];
    const int t = threadIdx.x, next = (t + 1) % blockDim.x;
    memcpy(&s[2 * next], &x[2 * t], 2 * sizeof(float));
#ifndef BUG
    __syncthreads();
#endif
    memcpy(&y[2 * t], &s[2 * t], 2 * sizeof(float));
}
