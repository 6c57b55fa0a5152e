// Barriers and warp collectives that not all threads reach.
__global__ void barrier_in_both_branches(const float *x, float *y) {
    __shared__ float s[64];
    const int t = threadIdx.x;
    s[t] = x[t];
    if (t < 32) {
        s[t] += 1.0f;
        __syncthreads();  //~ error: divergent-barrier
    } else {
        s[t] += 2.0f;
        __syncthreads();  //~ error: divergent-barrier
    }
    y[t] = s[63 - t];
}

__global__ void returns_before_the_barrier(const float *x, float *y, int n) {
    __shared__ float s[64];
    const int t = threadIdx.x;
    if (t >= n) {
        return;
    }
    s[t] = x[t];
    __syncthreads();  //~ warning: divergent-barrier
    y[t] = s[n - 1 - t];
}

__global__ void one_barrier_less(const float *x, float *y, int n) {
    __shared__ float s[64];
    const int t = threadIdx.x;
    s[t] = x[t];
    for (int i = 0; i < (t < n ? 2 : 1); i++) {
        __syncthreads();  //~ warning: divergent-barrier
    }
    y[t] = s[t];
}

__global__ void barrier_against_shuffle(const float *x, float *y) {
    const int t = threadIdx.x;
    float v = x[t];
    if (t < 16) {
        v += __shfl_xor_sync(0xffffffffu, v, 16);  //~ error: divergent-barrier
    } else {
        __syncthreads();  //~ note: divergent-barrier
    }
    y[t] = v;
}

__global__ void shuffle_after_return(const float *x, float *y, int n) {
    const int t = threadIdx.x;
    if (t >= n) {
        return;
    }
    float v = x[t];
    for (int offset = 16; offset > 0; offset /= 2) {
        v += __shfl_down_sync(0xffffffffu, v, offset);  //~ error: inactive-lane
    }
    if (t == 0) {
        y[0] = v;
    }
}

__global__ void shuffle_in_a_branch(const float *x, float *y) {
    const int t = threadIdx.x;
    float v = x[t];
    if (t & 1) {
        v += __shfl_xor_sync(0xffffffffu, v, 1);  //~ error: inactive-lane
    }
    y[t] = v;
}

__global__ void shuffle_in_part_of_a_warp(const float *x, float *y) {
    float v = x[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) {
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));  //~ error: inactive-lane
    }
    y[threadIdx.x] = v;
}

__global__ void mask_without_me(float *y) {
    const int t = threadIdx.x;
    y[t] = __ballot_sync(0x0000ffffu, t % 2);  //~ error: inactive-lane
}

// --- correct -------------------------------------------------------------------------------------------------------

__global__ void shuffles_and_throws_away(const float *x, float *y) {
    // Half a warp: what lanes read from beyond it never reaches lane 0.
    float v = x[threadIdx.x];
    for (int offset = 8; offset > 0; offset /= 2) {
        v += __shfl_down_sync(0xffffffffu, v, offset);  //~ warning: inactive-lane
    }
    if (threadIdx.x == 0) {
        y[0] = v;
    }
}

__global__ void branches_with_their_own_masks(const float *x, float *y) {
    const int t = threadIdx.x;
    float v = x[t];
    if (t % 32 < 16) {
        v = __shfl_xor_sync(0x0000ffffu, v, 1, 16) + __reduce_add_sync(0x0000ffffu, 1u);
    } else {
        v = __shfl_xor_sync(0xffff0000u, v, 1, 16) - __reduce_add_sync(0xffff0000u, 1u);
    }
    y[t] = v;
}
