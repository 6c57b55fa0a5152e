// The first lane that has something writes it. With the bug, all that have something do.
// class: warps; finds: race; grid: 2
// y: u32[64] = 0; x: in u32[2 * T]
__global__ void k(unsigned *y, const unsigned *x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned have = __ballot_sync(~0u, x[i] % 3 == 0);
#ifdef BUG
    if (have >> threadIdx.x % 32 & 1) {
#else
    if (have && threadIdx.x % 32 == __ffs(have) - 1) {
#endif
        y[i / 32] = i;
    }
}
