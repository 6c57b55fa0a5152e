// A block copies the next stage while it reads this one. With the bug, it does not wait for this one.
// class: asynchronous copies; finds: race; grid: 1
// y: f32[T]; x: in f32[8 * T]
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void k(float *y, const float *x) {
    constexpr int stages = 2;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ alignas(16) float tile[stages][1024];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int t = threadIdx.x, n = blockDim.x;
    float sum = 0.0f;
    for (int asked = 0, turn = 0; turn < 8; turn++) {
        for (; asked < 8 && asked < turn + stages; asked++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[asked % stages], x + asked * n, sizeof(float) * n, pipe);
            pipe.producer_commit();
        }
#ifndef BUG
        pipe.consumer_wait();
#endif
        sum += tile[turn % stages][n - 1 - t];
        pipe.consumer_release();
    }
    y[t] = sum;
}
