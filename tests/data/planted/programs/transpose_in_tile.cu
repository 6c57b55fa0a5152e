// A transpose through a tile. With the bug, a warp's barrier stands for the block's.
// class: tiles; finds: race; grid: 1
// y: f32[T]; x: in f32[T]
__global__ void k(float *y, const float *x) {
    __shared__ float tile[1024];
    const int t = threadIdx.x, rows = blockDim.x / 32;
    tile[t] = x[t];
#ifdef BUG
    __syncwarp();
#else
    __syncthreads();
#endif
    y[t] = tile[t % rows * 32 + t / rows];
}
