// The largest absolute value of a group, by a warp or by a block; and a power of two from the bits of a float.
//
// fmaxf loses a NaN: amax is then that of the numbers beside it. NaN-keeping kernels use largest_or_nan.
#pragma once

__device__ __forceinline__ float largest(float a, float b) {
    return fmaxf(a, b);
}

__device__ __forceinline__ float largest_or_nan(float a, float b) {
    return a != a ? a : b != b ? b : fmaxf(a, b);
}

template <float (*LARGER)(float, float) = largest, int LANES = 32>
__device__ __forceinline__ float amax_of_lanes(float value) {
    // LANES neighbours of a warp, all of which take part; every lane ends with the result
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) {
        value = LARGER(value, __shfl_xor_sync(0xffffffffu, value, mask));
    }
    return value;
}

template <float (*LARGER)(float, float) = largest>
__device__ __forceinline__ float amax_of_block(float value) {
    // all threads of the block, whole warps, take part; every thread ends with the result. Called once a launch.
    __shared__ float of_warp[32];
    const int lane = threadIdx.x % 32;  // ranges [0, 32)
    value = amax_of_lanes<LARGER>(value);
    if (lane == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return amax_of_lanes<LARGER>(lane < blockDim.x / 32 ? of_warp[lane] : 0.0f);
}

__device__ __forceinline__ unsigned int exponent_up(float scale) {
    // the code of e8m0 for the least power of two that is not below scale, which is finite and not negative
    const unsigned int bits = __float_as_uint(scale);
    const unsigned int up = (bits >> 23) + ((bits & 0x7fffffu) != 0u);
    // a denormal is below 2^-126, whose code is 1; 2^-127 has the code 0 and the bits 0x400000
    return bits <= 0x400000u ? 0u : up < 254u ? up : 254u;
}

__device__ __forceinline__ float power_of(unsigned int code) {
    // 2^(code - 127); 2^-127 is denormal
    return __uint_as_float(code == 0u ? 0x400000u : code << 23);
}
