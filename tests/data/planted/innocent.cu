// Correct kernels that look guilty: each does what a careless checker would report.
__global__ void arrays_of_one_name(float *y, const float *x) {
    const int t = threadIdx.x;
    {
        __shared__ float s[64];
        s[t] = x[t];
        __syncthreads();
        y[t] = s[63 - t];
    }
    {
        __shared__ float s[96];
        s[t + 32] = x[t];
        __syncthreads();
        y[t] += s[95 - t];
    }
}
__global__ void scan_across_blocks(float *y, const float *x, volatile float *sums, volatile int *ready, unsigned *ticket) {
    // Blocks take numbers by an atomic and wait for the block before them through a volatile flag.
    __shared__ int number;
    __shared__ float before;
    __shared__ float s[64];
    const int t = threadIdx.x;
    if (t == 0) {
        number = atomicAdd(ticket, 1u);
    }
    __syncthreads();
    s[t] = x[number * 64 + t];
    __syncthreads();
    for (int offset = 1; offset < 64; offset *= 2) {
        const float other = t >= offset ? s[t - offset] : 0.0f;
        __syncthreads();
        s[t] += other;
        __syncthreads();
    }
    if (t == 0) {
        float sum = 0.0f;
        if (number > 0) {
            while (ready[number - 1] == 0) {
            }
            __threadfence();
            sum = sums[number - 1];
        }
        sums[number] = sum + s[63];
        __threadfence();
        ready[number] = 1;
        before = sum;
    }
    __syncthreads();
    y[number * 64 + t] = s[t] + before;
}

__global__ void scan_in_two_buffers(float *y, const float *x) {
    // One barrier a step: what is read and what is written lie in different halves.
    __shared__ float s[2][64];
    const int t = threadIdx.x;
    s[0][t] = x[t];
    __syncthreads();
    int from = 0;
    for (int offset = 1; offset < 64; offset *= 2) {
        s[1 - from][t] = t >= offset ? s[from][t] + s[from][t - offset] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    y[t] = s[from][t];
}

__global__ void bools_and_chars(int *y, const float *x) {
    // Neighbouring bytes of one word, written by different threads.
    __shared__ bool large[64];
    __shared__ char number[64];
    const int t = threadIdx.x;
    large[t] = x[t] > 5.0f;
    number[t] = t;
    __syncthreads();
    y[t] = large[63 - t] + number[(t + 1) % 64];
}

__global__ void one_array_in_three_widths(float *y, const float *x) {
    __shared__ __align__(16) float s[256];
    const int t = threadIdx.x;
    reinterpret_cast<float4 *>(s)[t] = make_float4(x[4 * t], x[4 * t + 1], x[4 * t + 2], x[4 * t + 3]);
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < 256; i += 64) {
        sum += s[i];
    }
    __syncthreads();
    reinterpret_cast<float2 *>(s)[t] = make_float2(sum, sum);
    __syncthreads();
    y[t] = s[2 * (63 - t)];
}

__global__ void one_atomic_a_warp(int *y, const float *x, int *count) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const bool takes = x[t] > 10.0f;
    const unsigned takers = __ballot_sync(0xffffffffu, takes);
    int place = 0;
    if (lane == 0) {
        place = atomicAdd(count, __popc(takers));
    }
    place = __shfl_sync(0xffffffffu, place, 0);
    if (takes) {
        y[place + __popc(takers & ((1u << lane) - 1))] = 1;
    }
}

__global__ void histogram(unsigned *y, const float *x, int n) {
    __shared__ unsigned bins[16];
    const int t = threadIdx.x;
    if (t < 16) {
        bins[t] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&bins[static_cast<int>(x[i]) % 16], 1u);
    }
    __syncthreads();
    if (t < 16) {
        atomicAdd(&y[t], bins[t]);
    }
}

__global__ void rows_in_place(float *y, int cols) {
    // One warp a row, in step by __syncwarp alone.
    __shared__ float s[32];
    float *row = y + blockIdx.x * cols;
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = lane; i < cols; i += 32) {
        sum += row[i];
    }
    s[lane] = sum;
    __syncwarp();
    for (int offset = 16; offset > 0; offset /= 2) {
        const float other = s[lane ^ offset];
        __syncwarp();
        s[lane] += other;
        __syncwarp();
    }
    for (int i = lane; i < cols; i += 32) {
        row[i] /= s[0];
    }
}

__global__ void beyond_the_last_block(float *y, const float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    y[i] = 2.0f * x[i];
}

__device__ float added_by_swapping(float *address, float value) {
    // As the CUDA programming guide writes an atomic of one's own: the first read is plain.
    unsigned *word = reinterpret_cast<unsigned *>(address);
    unsigned old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __float_as_uint(value + __uint_as_float(assumed)));
    } while (assumed != old);
    return __uint_as_float(old);
}

__global__ void atomics_of_its_own(float *y, const float *x) {
    __shared__ float sum;
    if (threadIdx.x == 0) {
        sum = 0.0f;
    }
    __syncthreads();
    added_by_swapping(&sum, x[threadIdx.x] != 0.0f);
    added_by_swapping(y, 1.0f);
    __syncthreads();
    if (threadIdx.x == 0) {
        y[1 + blockIdx.x] = sum;
    }
}

__device__ void raise_by_swapping(float *address, float value) {
    // A maximum as many write it: who reads a value that is large enough already leaves, and swaps nothing.
    int *word = reinterpret_cast<int *>(address);
    int old = *word, seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= value) {
            break;
        }
        old = atomicCAS(word, seen, __float_as_int(value));
    } while (old != seen);
}

__global__ void leaves_before_it_swaps(float *y, const float *x) {
    raise_by_swapping(y, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

__device__ unsigned blocks_done = 0;

__global__ void ticket_in_a_device_variable(float *y, const float *x, float *part) {
    // As CUDA's own sample does it; whoever comes last clears the ticket for the next launch.
    __shared__ bool is_last;
    part[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        float sum = 0.0f;
        for (int block = 0; block < gridDim.x; block++) {
            sum += part[block * blockDim.x + (threadIdx.x + 1) % blockDim.x];
        }
        y[threadIdx.x] = sum;
    }
}
