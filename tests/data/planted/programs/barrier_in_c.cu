// Values go round a block, behind a barrier that is asked in C. With the bug, nobody asks whether all have come.
// class: barriers; finds: race; grid: 2; shared: 4 * T
// y: i32[2 * T]; x: in i32[2 * T]
#include <cuda_awbarrier_primitives.h>

__global__ void k(int *y, const int *x) {
    extern __shared__ int part[];
    __shared__ __mbarrier_t all;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, last = blockDim.x - 1;
    if (t == 0) __mbarrier_init(&all, blockDim.x);
    __syncthreads();
    part[t] = x[i];
    __mbarrier_token_t mine = __mbarrier_arrive(&all);
#ifdef BUG
    (void)mine;
#else
    while (!__mbarrier_test_wait(&all, mine)) {
    }
#endif
    y[i] = part[last - t];
}
