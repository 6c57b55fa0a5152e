// Accesses that no GPU allows, or whose result is undefined, and accesses that only look like them.
__global__ void write_past_the_end(float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        y[i] = i;  //~ error: out-of-bounds
    }
}

__global__ void read_past_the_end(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x + 1];  //~ error: out-of-bounds
}

__global__ void read_before_the_start(const float *x, float *y) {  //~ error: unwritten
    const int before = static_cast<int>(threadIdx.x) - 1;
    y[threadIdx.x] = x[before];  //~ error: out-of-bounds
}

__global__ void unused_load_past_shared(const float *x, float *y) {
    // The value is used only where it lies inside: an optimising compiler moves the load there.
    extern __shared__ float s[];
    const int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int i = blockDim.x / 2; i > 0; i /= 2) {
        const float other = s[t + i];  //~ error: out-of-bounds
        __syncthreads();
        if (t < i) {
            s[t] += other;
        }
        __syncthreads();
    }
    y[t] = s[0];
}

__global__ void static_array_into_the_next(float *y) {
    __shared__ float a[32], b[32];
    const int t = threadIdx.x;  // ranges [0, 64)
    a[t & 31] = 1.0f;  //~ warning: race
    b[t & 31] = 2.0f;
    __syncthreads();
    y[t] = a[t];  //~ error: out-of-bounds
}

__global__ void far_away(float *y) {
    y[static_cast<long long>(threadIdx.x) * 1000000000000ll] = 1.0f;  //~ error: illegal-address
}

__global__ void through_null(float *y) {
    float *nothing = nullptr;
    if (y[0] == 0.0f) {
        nothing = y;
    }
    *nothing = 1.0f;  //~ error: illegal-address
}

__global__ void misaligned_vector(const float *x, float *y, int start) {
    const float4 v = *reinterpret_cast<const float4 *>(x + start);  //~ error: misaligned
    y[0] = v.x + v.y + v.z + v.w;
}

__global__ void misaligned_pair(const float *x, float *y, int start) {
    const float2 v = *reinterpret_cast<const float2 *>(x + start);  //~ error: misaligned
    y[0] = v.x + v.y;
}

__global__ void tail_of_the_tile(const float *x, float *y, int n) {
    __shared__ float s[64];
    const int t = threadIdx.x;
    if (t < n) {
        s[t] = x[t];
    }
    __syncthreads();
    float most = -1e30f;
    for (int i = 0; i < 64; i++) {
        most = fmaxf(most, s[i]);  //~ error: uninitialised
    }
    y[t] = most;
}

__global__ void adds_to_nothing(float *y) {
    atomicAdd(y, 1.0f);  //~ error: uninitialised
}

__global__ void reads_scratch_first(const float *x, float *scratch, float *y) {
    const int t = threadIdx.x;
    scratch[t] += x[t];  //~ error: uninitialised
    y[t] = scratch[t];
}

__global__ void every_other(float *y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (i % 2 == 0) {
            y[i] = 1.0f;
        }
    }
}

__global__ void scribbles_on_input(float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = 0.0f;
}

__global__ void writes_what_its_neighbour_has_read(float *x, float *y) {
    const int t = threadIdx.x;
    y[t] = x[t];  // INPUT-READ
    if (t > 0) {
        x[t - 1] = 0.0f;  // INPUT-WRITTEN
    }
}

__global__ void reads_around_an_input(const char *x, const float *z, float *y, int first, int bytes) {
    // `bytes` of x from `first` on, by the widest access that fits; z lies behind x.
    y[0] = z[0];
    y[1] = bytes == 1   ? static_cast<float>(x[first])
           : bytes == 2 ? static_cast<float>(*reinterpret_cast<const short *>(x + first))
           : bytes == 4 ? *reinterpret_cast<const float *>(x + first)
           : bytes == 8 ? reinterpret_cast<const float2 *>(x + first)->y
                        : reinterpret_cast<const float4 *>(x + first)->w;
}

// --- correct -------------------------------------------------------------------------------------------------------

__global__ void loads_and_throws_away(const float *x, float *y, int n) {
    // Reads shared memory that nobody has written, and does not use it.
    __shared__ float s[64];
    const int t = threadIdx.x;
    if (t < n) {
        s[t] = x[t];
    }
    __syncthreads();
    const float value = s[63 - t];  //~ warning: uninitialised
    y[t] = 63 - t < n ? value : 0.0f;
}

__global__ void fills_by_pieces(const float *x, float4 *y) {
    // Written as floats, read as a vector.
    __shared__ float4 s[16];
    reinterpret_cast<float *>(s)[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 16) {
        y[threadIdx.x] = s[threadIdx.x];
    }
}

__device__ float last_seen = 7.0f;

__global__ void remembers(const float *x, float *y) {
    // A __device__ variable: every run starts from what the source says.
    y[0] = last_seen;
    last_seen = x[0];
}
