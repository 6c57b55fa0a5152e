// Halves of warps change over values. With the bug, the mask leaves the partner out.
// class: warps; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[1024];
    const int t = threadIdx.x;
    s[t] = x[t];
#ifdef BUG
    __syncwarp(1u << t % 32);
#else
    __syncwarp(0xffffu << (t & 16));
#endif
    y[t] = s[t ^ 8];
}
