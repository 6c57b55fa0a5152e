// A warp's leader fences for all lanes before it gives the lock back. With the bug, only for its block.
// class: locks; finds: race; grid: 3
// y: inout i32[32]; lock: i32[1] = 0
__global__ void k(int *y, int *lock) {
    if (threadIdx.x >= 32) {
        return;
    }
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
    }
    __syncwarp();
    y[threadIdx.x] += blockIdx.x;
    __syncwarp();
    if (threadIdx.x == 0) {
#ifdef BUG
        __threadfence_block();
#else
        __threadfence();
#endif
        atomicExch(lock, 0);
    }
}
