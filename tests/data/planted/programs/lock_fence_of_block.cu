// A lock over blocks. With the bug, its fences are of block scope.
// class: locks; finds: race; grid: 5
// y: inout i32[1]; lock: i32[1] = 0
__global__ void k(int *y, int *lock) {
    if (threadIdx.x != 0) {
        return;
    }
    while (atomicCAS(lock, 0, 1) != 0) {
    }
#ifdef BUG
    __threadfence_block();
#else
    __threadfence();
#endif
    y[0] = y[0] + 1;
#ifdef BUG
    __threadfence_block();
#else
    __threadfence();
#endif
    atomicExch(lock, 0);
}
