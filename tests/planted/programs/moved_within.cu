// A block moves its part down by one, by one thread. With the bug, by each thread for its own part.
// class: copies
// finds: race
// grid: 1
// y: inout f32[4 * T]
__global__ void k(float *y) {
#ifdef BUG
    memmove(y + 4 * threadIdx.x, y + 4 * threadIdx.x + 1, (threadIdx.x + 1 < blockDim.x ? 4 : 3) * sizeof(float));
#else
    if (threadIdx.x == 0) {
        memmove(y, y + 1, (4 * blockDim.x - 1) * sizeof(float));
    }
#endif
}
