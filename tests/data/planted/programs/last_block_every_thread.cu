// Every thread leaves something for the last block. With the bug, none waits for the others before the ticket.
// class: last blocks; finds: race; grid: 4
// y: f32[T]; part: f32[4 * T]; tickets: u32[1] = 0; x: in f32[4 * T]
__global__ void k(float *y, float *part, unsigned *tickets, const float *x) {
    __shared__ bool is_last;
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[i] = x[i] + 1.0f;
    __threadfence();
#ifndef BUG
    __syncthreads();
#endif
    if (t == 0) {
        is_last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        float sum = 0.0f;
        for (int block = 0; block < gridDim.x; block++) {
            sum += part[block * blockDim.x + t];
        }
        y[t] = sum;
    }
}
