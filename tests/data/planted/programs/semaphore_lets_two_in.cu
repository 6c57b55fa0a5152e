// A semaphore that lets one in at a time guards a sum. With the bug, it lets two in.
// class: locks; finds: race; grid: 8
// y: i32[1] = 0; x: in i32[8 * T]
#include <cuda/semaphore>

#ifdef BUG
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 2> gate{2};
#else
__device__ cuda::binary_semaphore<cuda::thread_scope_device> gate{1};
#endif

__global__ void k(int *y, const int *x) {
    if (threadIdx.x % 32 == 0) {
        for (int turn = 0; turn < 2; turn++) {
            gate.acquire();
            y[0] += x[blockIdx.x * blockDim.x + threadIdx.x + turn];
            gate.release();
        }
    }
}
