// All threads of a block write, fence and count; one thread of the other waits until all have, fences, and lets its block
// read behind a barrier. With the bug, the fence is the block's.
// class: fences and flags; finds: race; grid: 2
// y: f32[T]; mail: f32[T]; x: in f32[T]; posted: u32[1] = 0
__global__ void k(float *y, float *mail, const float *x, unsigned *posted) {
    const int t = threadIdx.x;
    if (blockIdx.x == 1) {
        mail[t] = x[t];
#ifdef BUG
        __threadfence_block();
#else
        __threadfence();
#endif
        atomicAdd(posted, 1u);
    } else {
        if (t == 0) {
            while (atomicCAS(posted, 0u, 0u) < blockDim.x) __nanosleep(20);
            __threadfence();
        }
        __syncthreads();
        y[t] = mail[blockDim.x - 1 - t];
    }
}
