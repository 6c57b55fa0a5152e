// e2m1, the four bits of mxfp4 and nvfp4: the code of a float, and the number of a code, without the toolkit's header.
#pragma once

__device__ __forceinline__ unsigned int e2m1_of(float t) {
    // the nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6, ties to the even code; beyond them 6
    const float size = fabsf(t);
    unsigned int code = 0;
    code += size > 0.25f;
    code += size >= 0.75f;
    code += size > 1.25f;
    code += size >= 1.75f;
    code += size > 2.5f;
    code += size >= 3.5f;
    code += size > 5.0f;
    return code | (__float_as_uint(t) >> 31 << 3);
}

__device__ __forceinline__ float number_of_e2m1(unsigned int code) {
    // of the code in the low four bits
    const float size = static_cast<float>(0xc8643210u >> code % 8u * 4u & 15u) * 0.5f;
    return code & 8u ? -size : size;
}
