// Warps meet at an mbarrier by the names of cuda::ptx. With the bug, nobody waits.
// class: barriers; finds: race; grid: 2; shared: 4 * T
// y: i32[2 * T]; x: in i32[2 * T]
#include <cuda/ptx>

namespace ptx = cuda::ptx;

__global__ void k(int *y, const int *x) {
    extern __shared__ int part[];
    __shared__ uint64_t all;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, last = blockDim.x - 1;
    if (t == 0) ptx::mbarrier_init(&all, blockDim.x);
    __syncthreads();
    part[t] = x[i];
    ptx::mbarrier_arrive(&all);
#ifndef BUG
    while (!ptx::mbarrier_try_wait_parity(&all, 0)) {
    }
#endif
    y[i] = part[last - t];
}
