// Each warp leaves data for another one: its lanes fence, one of them sets the flag. With the bug, nobody fences.
// class: fences and flags; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float s[1024];
    __shared__ int full[32];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    if (lane == 0) {
        full[warp] = 0;
    }
    __syncthreads();
    s[t] = x[t];
#ifndef BUG
    __threadfence_block();
#endif
    __syncwarp();
    if (lane == 0) {
        atomicExch_block(&full[warp], 1);
    }
    const int from = (warp + 1) % (blockDim.x / 32);
    if (lane == 0) {
        while (atomicAdd_block(&full[from], 0) == 0) {
        }
    }
    __syncwarp();
    y[t] = s[from * 32 + lane];
}
