// Two blocks change one cell under a lock. With the bug, each takes a lock of its own.
// class: locks; finds: race; grid: 2
// y: inout i32[1]; lock: i32[2] = 0
__global__ void k(int *y, int *lock) {
    if (threadIdx.x != 0) {
        return;
    }
#ifdef BUG
    lock += blockIdx.x;
#endif
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    y[0] = y[0] + 1;
    __threadfence();
    atomicExch(lock, 0);
}
