// A warp's leader takes the lock for all lanes. With the bug, it gives it back while others still add.
// class: locks; finds: race; grid: 2
// y: inout i32[32]; lock: i32[1] = 0
__global__ void k(int *y, int *lock) {
    const int lane = threadIdx.x % 32;
    if (lane == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
    }
    __syncwarp();
    y[lane] += 1;
    __threadfence();
#ifndef BUG
    __syncwarp();
#endif
    if (lane == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}
