// A thread's own array from malloc. With the bug, it is read after free.
// class: freed memory; finds: out-of-bounds; grid: 1
// y: f32[T]
__global__ void k(float *y) {
    float *mine = static_cast<float *>(malloc(4 * sizeof(float)));
    for (int i = 0; i < 4; i++) {
        mine[i] = i;
    }
#ifdef BUG
    free(mine);
    y[threadIdx.x] = mine[3];
#else
    y[threadIdx.x] = mine[3];
    free(mine);
#endif
}
