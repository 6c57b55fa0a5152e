// Blocks keep the greatest number. With the bug, the atomic's scope is the block.
// class: atomics and scopes; finds: race; grid: 3
// y: i32[1] = 0; x: in i32[3 * T]
#include <cuda/atomic>

#ifdef BUG
constexpr auto scope = cuda::thread_scope_block;
#else
constexpr auto scope = cuda::thread_scope_device;
#endif

__global__ void k(int *y, const int *x) {
    cuda::atomic_ref<int, scope> greatest(*y);
    greatest.fetch_max(x[blockIdx.x * blockDim.x + threadIdx.x] + 1, cuda::memory_order_relaxed);
}
