// A block moves its array down by four elements, piece by piece, by one thread. With the bug, by each thread for its own piece.
// class: copies; finds: race; grid: 1
// y: inout f32[4 * T]
__global__ void k(float *y) {
    const int pieces = blockDim.x - 1, size = 4 * sizeof(float);
#ifdef BUG
    if (threadIdx.x < pieces) {
        memcpy(y + 4 * threadIdx.x, y + 4 * threadIdx.x + 4, size);
    }
#else
    for (int i = 0; threadIdx.x == 0 && i < pieces; i++) {
        memcpy(y + 4 * i, y + 4 * i + 4, size);
    }
#endif
}
