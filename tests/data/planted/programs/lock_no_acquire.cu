// A lock over blocks. With the bug, no fence follows its taking.
// class: locks; finds: race; grid: 5
// y: inout i32[1]; lock: i32[1] = 0
__global__ void k(int *y, int *lock) {
    if (threadIdx.x != 0) {
        return;
    }
    while (atomicCAS(lock, 0, 1) != 0) {
    }
#ifndef BUG
    __threadfence();
#endif
    y[0] = y[0] + 1;
    __threadfence();
    atomicExch(lock, 0);
}
