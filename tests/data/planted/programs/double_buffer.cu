// Two halves that take turns need one barrier a round. With the bug, both rounds use one half.
// class: tiles; finds: race; grid: 1
// y: f32[T]; x: in f32[4 * T]
__global__ void k(float *y, const float *x) {
    __shared__ float tile[2][1024];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int round = 0; round < 4; round++) {
#ifdef BUG
        const int half = 0;
#else
        const int half = round % 2;
#endif
        tile[half][t] = x[round * blockDim.x + t];
        __syncthreads();
        sum += tile[half][blockDim.x - 1 - t];
    }
    y[t] = sum;
}
