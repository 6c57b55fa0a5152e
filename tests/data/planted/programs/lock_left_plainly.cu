// A lock is left by an atomic. With the bug, by a plain store.
// class: locks; finds: race; grid: 4
// y: i32[1] = 0; lock: i32[1] = 0
__global__ void k(int *y, int *lock) {
    if (threadIdx.x != 0) {
        return;
    }
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    y[0] += blockIdx.x + 1;
    __threadfence();
#ifdef BUG
    lock[0] = 0;
#else
    atomicExch(lock, 0);
#endif
}
