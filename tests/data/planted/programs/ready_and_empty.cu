// Half of a block fills two buffers, the other half reads them. With the bug, a buffer is given back before it is read.
// class: barriers; finds: race; grid: 1
// y: i32[T]; x: in i32[4 * T]
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void k(int *y, const int *x) {
    __shared__ Barrier ready[2], empty[2];
    __shared__ int buffers[2][512];
    const int t = threadIdx.x, half = blockDim.x / 2;
    if (t < 2) {
        init(&ready[t], blockDim.x);
        init(&empty[t], blockDim.x);
    }
    __syncthreads();
    if (t < half) {
        for (int turn = 0; turn < 8; turn++) {
            const int which = turn % 2;
            empty[which].arrive_and_wait();
            buffers[which][t] = x[turn * half + t];
            ready[which].arrive();
        }
        y[t] = 0;
    } else {
        int sum = 0;
        empty[0].arrive();
        empty[1].arrive();
        for (int turn = 0; turn < 8; turn++) {
            const int which = turn % 2;
            ready[which].arrive_and_wait();
#ifdef BUG
            if (turn < 6) {
                empty[which].arrive();
            }
            sum += buffers[which][blockDim.x - 1 - t];
#else
            sum += buffers[which][blockDim.x - 1 - t];
            if (turn < 6) {
                empty[which].arrive();
            }
#endif
        }
        y[t] = sum;
    }
}
