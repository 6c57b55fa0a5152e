// The sum and the maximum of a warp, and of a block of any number of whole warps: every thread ends with the result.
//
// Each function of a block has shared memory of its own, and is called once a launch, unless you hand it over.
#pragma once

__device__ __forceinline__ float warp_max(float value) {
    // all 32 lanes take part
    for (int mask = 16; mask > 0; mask /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, mask));
    }
    return value;
}

__device__ __forceinline__ float warp_sum(float value) {
    for (int mask = 16; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

__device__ __forceinline__ float block_max(float value) {
    __shared__ float of_warp[32];
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    value = warp_max(value);
    if (lane == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return warp_max(lane < blockDim.x / 32 ? of_warp[lane] : -INFINITY);
}

__device__ __forceinline__ float block_sum(float value, float *of_warp) {
    // of_warp is (32), in shared memory that no thread uses again before all have returned
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    value = warp_sum(value);
    if (lane == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return warp_sum(lane < blockDim.x / 32 ? of_warp[lane] : 0.0f);
}

__device__ __forceinline__ float block_sum(float value) {
    __shared__ float of_warp[32];
    return block_sum(value, of_warp);
}
