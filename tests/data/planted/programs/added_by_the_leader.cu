// A warp adds once, for all of its lanes. With the bug, without an atomic.
// class: atomics and scopes; finds: race; grid: 2
// y: u32[1] = 0; x: in u32[2 * T]
__global__ void k(unsigned *y, const unsigned *x) {
    const unsigned all = __popc(__ballot_sync(~0u, x[blockIdx.x * blockDim.x + threadIdx.x] % 2));
    if (threadIdx.x % 32 == 0) {
#ifdef BUG
        y[0] += all;
#else
        atomicAdd(&y[0], all);
#endif
    }
}
