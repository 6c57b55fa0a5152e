// Parts of a softmax: a maximum, and the sum of exponentials below it. Joined they are those of all elements together.
#pragma once

#include "../row.cuh"

// The parts of all lanes together; every lane ends with both.
template <int LANES>
__device__ __forceinline__ float2 lanes_joined(float2 part) {
    const float max = lanes_max<LANES>(part.x);
    return make_float2(max, lanes_sum<LANES>(part.y * expf(part.x - finite_or_zero(max))));
}
