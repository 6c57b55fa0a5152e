// Races, each in a kernel of its own, and the correct code beside it. Marks name each finding on its line.
__global__ void missing_barrier_in_loop(const float *x, float *y) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int i = 128; i > 0; i >>= 1) {
        if (t < i) {
            s[t] += s[t + i];  //~ error: race
        }
    }
    __syncthreads();
    if (t == 0) {
        y[0] = s[0];
    }
}

__global__ void missing_barrier_after_load(const float *x, float *y) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = x[t];  //~ error: race
    for (int i = 128; i > 0; i >>= 1) {
        if (t < i) {
            s[t] += s[t + i];  //~ error: race //~ error: uninitialised
        }
        __syncthreads();
    }
    if (t == 0) {
        y[0] = s[0];
    }
}

__global__ void lost_update(float *y) {
    __shared__ float s;
    if (threadIdx.x == 0) {
        s = 0.0f;
    }
    __syncthreads();
    s += 1.0f;  //~ error: race //~ warning: race
    __syncthreads();
    if (threadIdx.x == 0) {
        y[0] = s;
    }
}

__global__ void last_warp(const float *x, float *y) {
    __shared__ volatile float s[64];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];  //~ error: race
        s[t] += s[t + 16];  //~ error: race
        s[t] += s[t + 8];  //~ error: race
        s[t] += s[t + 4];  //~ error: race
        s[t] += s[t + 2];  //~ error: race
        s[t] += s[t + 1];  //~ error: race
    }
    if (t == 0) {
        y[0] = s[0];
    }
}

template <int Threads>
__device__ float block_sum(float value) {
    static __shared__ float of_warp[Threads / 32];
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;  //~ error: race
    }
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < Threads / 32; warp++) {
        sum += of_warp[warp];  //~ error: race
    }
    return sum;
}

template <int Threads>
__global__ void array_used_again(const float *x, float *y) {
    const float sum = block_sum<Threads>(x[threadIdx.x]);
    y[threadIdx.x] = block_sum<Threads>(x[threadIdx.x] * sum);
}

__global__ void blocks_update_one_cell(float *y) {
    if (threadIdx.x == 0) {
        y[0] += 1.0f;  //~ error: race
    }
}

__global__ void all_write_the_same(const float *x, float *y) {
    y[0] = x[0];  //~ warning: race
}

template <class T>
__device__ T sum_of_lanes(T value) {
    for (int mask = 16; mask > 0; mask /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, mask);
    }
    return value;
}

__global__ void all_lanes_write_their_sum(const float *x, float *y) {
    y[0] = sum_of_lanes(x[threadIdx.x]);
}

__global__ void all_lanes_write_their_double_sum(const float *x, double *y) {
    y[0] = sum_of_lanes<double>(x[threadIdx.x]);
}

__global__ void all_write_another_third_word(const float *x, float4 *y) {
    y[0] = make_float4(0.0f, 0.0f, x[threadIdx.x], 0.0f);  //~ error: race
}

__global__ void never_shows(const float *x, float *y) {
    // The neighbour's value may be the old or the new one: both are positive, and no more is asked of it.
    __shared__ float s[64];
    s[threadIdx.x] = 0.5f;
    __syncthreads();
    s[threadIdx.x] = x[threadIdx.x];  //~ error: race
    const float neighbour = s[threadIdx.x ^ 1];  //~ error: race
    y[threadIdx.x] = neighbour > 0.0f ? 1.0f : 2.0f;
}

__global__ void never_shows_between_blocks(const float *x, float *part, float *y) {
    // So here, where the neighbour is another block: its value is the old one or the new one, and both will do.
    part[blockIdx.x] = x[blockIdx.x] + 1.0f;  //~ error: race
    const float neighbour = part[blockIdx.x ^ 1];  //~ error: race
    y[blockIdx.x] = neighbour > -INFINITY ? 1.0f : 2.0f;
}

__global__ void ticket_without_fence(const float *x, float *part, float *y, unsigned *count) {
    // The last block adds up what all have left, but nothing makes that visible to it.
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = x[blockIdx.x];  //~ note: race
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0.0f;
        for (unsigned i = 0; i < gridDim.x; i++) {
            sum += part[i];  //~ error: race
        }
        y[0] = sum;
    }
}

// --- correct -------------------------------------------------------------------------------------------------------

__global__ void bytes_of_one_word(unsigned *y) {
    // Every thread writes and reads back its own byte or half: neighbours share words, and that is no race.
    __shared__ unsigned char bytes[64];
    __shared__ unsigned short halves[64];
    const int t = threadIdx.x;
    bytes[t] = static_cast<unsigned char>(t);
    halves[t] = static_cast<unsigned short>(2 * t);
    const unsigned mine = bytes[t] + halves[t];
    y[t] = mine;
}

__global__ void lanes_in_step(const float *x, float *y) {
    // The last warp, with a __syncwarp between reading and writing.
    __shared__ float s[64];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        for (int i = 32; i > 0; i /= 2) {
            const float other = s[t + i];
            __syncwarp();
            s[t] += other;
            __syncwarp();
        }
    }
    if (t == 0) {
        y[0] = s[0];
    }
}

__global__ void half_warps_in_step(const float *x, float *y) {
    // Each half of a warp synchronises by its own mask, in a branch of its own.
    __shared__ float s[64];
    const int t = threadIdx.x;
    s[t] = x[t];
    const unsigned mask = 0xffffu << (t & 16);
    __syncwarp(mask);
    const float other = s[t ^ 1];
    __syncwarp(mask);
    s[t ^ 1] = other + 1.0f;
    __syncwarp(mask);
    y[t] = s[t];
}

__global__ void a_read_then_two_reads(const float *x, float *y) {
    // Reads by several lanes, ordered by __syncwarp before the write that follows.
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp();
    const float first = s[0];
    __syncwarp();
    if (t == 0) {
        const float again = s[0];
        s[0] = first + again;
    }
    __syncwarp();
    y[t] = s[0] + first;
}

__global__ void ticket(const float *x, float *part, float *y, unsigned *count) {
    // The last block to finish adds up what all have left, ordered by fence and atomic.
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = x[blockIdx.x];
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float sum = 0.0f;
        for (unsigned i = 0; i < gridDim.x; i++) {
            sum += part[i];
        }
        y[0] = sum;
    }
}

__global__ void blocks_count_atomically(float *y) {
    if (threadIdx.x == 0) {
        atomicAdd(y, 1.0f);
    }
}

__global__ void locked(float *y, int *lock) {
    // A critical section: taken and given back by atomics, with fences.
    __shared__ float sum;
    if (threadIdx.x == 0) {
        sum = 0.0f;
    }
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            sum += 1.0f;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        y[0] = sum;
    }
}

__global__ void waits_for_a_flag(float *y, volatile int *flag) {
    // Thread 0 waits for the last thread by reading memory again and again.
    __shared__ float value;
    if (threadIdx.x == blockDim.x - 1) {
        value = 42.0f;
        __threadfence();
        *flag = 1;
    }
    if (threadIdx.x == 0) {
        while (*flag == 0) {
        }
        __threadfence();
        y[0] = value;
    }
}

__global__ void waits_for_a_shared_flag(float *y) {
    // The same with a flag in shared memory, among the warps of one block.
    __shared__ float value;
    __shared__ volatile int flag;
    if (threadIdx.x == 0) {
        flag = 0;
    }
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) {
        value = 42.0f;
        __threadfence_block();
        flag = 1;
    }
    if (threadIdx.x == 0) {
        while (flag == 0) {
        }
        __threadfence_block();
        y[0] = value;
    }
}

struct Padded {
    double sum;
    float max;  // four bytes follow that nobody writes
};

__global__ void copies_a_struct_with_padding(float *y, const float *x) {
    __shared__ Padded s[64];
    Padded mine;
    mine.sum = x[threadIdx.x];
    mine.max = x[threadIdx.x];
    s[threadIdx.x].sum = mine.sum;
    s[threadIdx.x].max = mine.max;
    __syncthreads();
    mine = s[63 - threadIdx.x];
    y[threadIdx.x] = mine.max + static_cast<float>(mine.sum);
}

__global__ void looks_without_a_barrier(float *y, int *count) {
    // Who looks without swapping has not guessed: it may be late.
    if (threadIdx.x > 0) {
        atomicAdd(count, 1);  //~ error: race
    } else {
        y[0] = static_cast<float>(*count);  //~ error: race
    }
}
