// The first warp makes a table, and the others wait at a latch for it. With the bug, they do not.
// class: barriers; finds: race; grid: 2
// y: i32[2 * T]; x: in i32[T]
#include <cuda/latch>

using Latch = cuda::latch<cuda::thread_scope_block>;

__global__ void k(int *y, const int *x) {
    __shared__ int table[32];
    __shared__ alignas(Latch) char room[sizeof(Latch)];
    Latch *ready = reinterpret_cast<Latch *>(room);
    const int t = threadIdx.x;
    if (t == 0) new (room) Latch(32);
    __syncthreads();
    int mine = 0;
    if (t < 32) {
        table[t] = x[t];
        ready->count_down();
    } else {
#ifndef BUG
        ready->wait();
#endif
        mine = table[(t + 5) % 32];
    }
    y[blockIdx.x * blockDim.x + t] = mine;
}
