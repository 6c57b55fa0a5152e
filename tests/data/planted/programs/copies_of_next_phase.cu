// Warps copy their rows for the next turn while they work on those of this one. With the bug, a warp that has waited for
// its own rows reads those of its neighbour, for which nobody has waited.
// class: asynchronous copies; finds: race; grid: 1
// y: f32[T]; x: in f32[4 * T]
#include <cuda/barrier>

__global__ void k(float *y, const float *x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[32][2];
    __shared__ float rows[2][1024];
    const int t = threadIdx.x, warp = t / 32, n = blockDim.x;
    if (t % 32 == 0) {
        init(&ready[warp][0], 32);
        init(&ready[warp][1], 32);
    }
    __syncthreads();
    cuda::memcpy_async(&rows[0][t], &x[t], sizeof(float), ready[warp][0]);
    float sum = 0.0f;
    for (int turn = 0; turn < 4; turn++) {
        const int now = turn % 2, next = 1 - now;
        if (turn < 3) {
            cuda::memcpy_async(&rows[next][t], &x[(turn + 1) * n + t], sizeof(float), ready[warp][next]);
        }
        ready[warp][now].arrive_and_wait();
#ifdef BUG
        sum += rows[now][(t + 32) % n];
#else
        sum += rows[now][t ^ 1];
#endif
        __syncwarp();
    }
    y[t] = sum;
}
