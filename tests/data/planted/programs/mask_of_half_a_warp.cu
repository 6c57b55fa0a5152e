// Lanes hand a number to the lane opposite. With the bug, each half of the warp waits for itself alone.
// class: warps; finds: race; grid: 1
// y: i32[T]; x: in i32[T]
__global__ void k(int *y, const int *x) {
    __shared__ int handed[1024];
    const int t = threadIdx.x;
    handed[t] = x[t];
#ifdef BUG
    __syncwarp(t % 32 < 16 ? 0x0000ffffu : 0xffff0000u);
#else
    __syncwarp();
#endif
    y[t] = handed[t ^ 16];
}
