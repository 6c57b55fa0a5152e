// The first warp copies, the others add up. With the bug, it fills a stage that others still read.
// class: asynchronous copies; finds: race; grid: 1
// y: f32[T]; x: in f32[16 * T]
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void k(float *y, const float *x) {
    constexpr int stages = 2;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ float tile[stages][32];
    auto block = cg::this_thread_block();
    const int t = threadIdx.x;
    const bool copies = t < 32;
    auto pipe = cuda::make_pipeline(block, &state, copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    float sum = 0.0f;
    for (int turn = 0; turn < 16; turn++) {
        if (copies) {
#ifndef BUG
            pipe.producer_acquire();
#endif
            cuda::memcpy_async(&tile[turn % stages][t], &x[32 * turn + t], sizeof(float), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += tile[turn % stages][t % 32];
            pipe.consumer_release();
        }
    }
    y[t] = sum;
}
