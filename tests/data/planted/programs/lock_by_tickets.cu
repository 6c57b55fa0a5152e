// A lock that serves in order. With the bug, whoever leaves does not fence.
// class: locks; finds: race; grid: 4
// y: i32[1] = 0; next: u32[1] = 0; serving: u32[1] = 0
__global__ void k(int *y, unsigned *next, unsigned *serving) {
    if (threadIdx.x != 0) {
        return;
    }
    const unsigned mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != mine) {
    }
    __threadfence();
    y[0] += blockIdx.x + 1;
#ifndef BUG
    __threadfence();
#endif
    atomicAdd(serving, 1);
}
