// A thread's own array from malloc. With the bug, it is too short.
// class: bounds; finds: out-of-bounds; grid: 1
// y: f32[T]
__global__ void k(float *y) {
#ifdef BUG
    float *mine = static_cast<float *>(malloc(4));
#else
    float *mine = static_cast<float *>(malloc(4 * sizeof(float)));
#endif
    for (int i = 0; i < 4; i++) {
        mine[i] = i;
    }
    y[threadIdx.x] = mine[0];
    free(mine);
}
