// A sum in a __device__ variable. With the bug, without an atomic.
// class: variables and heap; finds: race; grid: 2
// y: i32[1]; done: u32[1] = 0
__device__ int total = 0;

__global__ void k(int *y, unsigned *done) {
#ifdef BUG
    total += 1;
#else
    atomicAdd(&total, 1);
#endif
    __threadfence();
    if (atomicAdd(done, 1u) == gridDim.x * blockDim.x - 1) {
        __threadfence();
        y[0] = atomicAdd(&total, 0);
    }
}
