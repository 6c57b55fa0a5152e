// A block clears its part by memset. With the bug, by elements where bytes are meant.
// class: bounds; finds: out-of-bounds; grid: 1
// y: inout f32[T]
__global__ void k(float *y) {
    if (threadIdx.x == 0) {
#ifdef BUG
        memset(y, 0, 8 * blockDim.x);
#else
        memset(y, 0, sizeof(float) * blockDim.x);
#endif
    }
}
