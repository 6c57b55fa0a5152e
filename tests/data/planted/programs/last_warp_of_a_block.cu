// The last warp of a block adds up what all warps have left. With the bug, no fence comes before the ticket.
// class: last blocks; finds: race; grid: 2
// y: f32[2]; x: in f32[2 * T]
__global__ void k(float *y, const float *x) {
    __shared__ float parts[32];
    __shared__ unsigned tickets;
    if (threadIdx.x == 0) {
        tickets = 0;
    }
    __syncthreads();
    const unsigned warps = blockDim.x / 32, warp = threadIdx.x / 32;
    float value = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(~0u, value, offset);
    }
    if (threadIdx.x % 32 == 0) {
        parts[warp] = value;
#ifndef BUG
        __threadfence_block();
#endif
        if (atomicAdd(&tickets, 1u) == warps - 1) {
            __threadfence_block();
            float sum = 0.0f;
            for (unsigned i = 0; i < warps; i++) {
                sum += parts[i];
            }
            y[blockIdx.x] = sum;
        }
    }
}
