// Lanes with one key elect one of them to count. With the bug, each adds to the shared count itself.
// class: warps; finds: race; grid: 1
// y: u32[8]; x: in u32[T]
__global__ void k(unsigned *y, const unsigned *x) {
    __shared__ unsigned bins[8];
    const int t = threadIdx.x;
    if (t < 8) {
        bins[t] = 0;
    }
    __syncthreads();
    const unsigned key = x[t] % 8, peers = __match_any_sync(~0u, key);
#ifdef BUG
    bins[key] += 1;
#else
    if (__ffs(peers) - 1 == t % 32) {
        atomicAdd(&bins[key], __popc(peers));
    }
#endif
    __syncthreads();
    if (t < 8) {
        y[t] = bins[t];
    }
}
