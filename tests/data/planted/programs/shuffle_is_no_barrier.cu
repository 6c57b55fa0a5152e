// A value left in shared memory for the warp. With the bug, a shuffle is taken for a barrier.
// class: warps; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    if (t % 32 == 31) {
        s[t / 32] = x[t];
    }
#ifdef BUG
    const float any = __shfl_sync(0xffffffffu, x[t], 0);
#else
    const float any = __shfl_sync(0xffffffffu, x[t], 0);
    __syncwarp();
#endif
    y[t] = s[t / 32] + 0.0f * any;
}
