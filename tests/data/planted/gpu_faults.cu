// Kernels with one fault each, which the gpu device must name. All copy x[n] to y[n] in one way or another, and are
// launched as one block of at least n threads unless they say so.

extern "C" __global__ void copies(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}

extern "C" __global__ void reads_far_away(float *y, const float *x, int n) {
    // 2^31 elements on, as an int index that wrapped would be
    if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x + (1ll << 31)];  //~ error: out-of-bounds
}

extern "C" __global__ void reads_misaligned(float *y, const float *x, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = *(const volatile float *)((const char *)x + 1);  //~ error: misaligned
}

extern "C" __global__ void traps(float *y, const float *x, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];
    if (n > 0) __trap();  //~ error: trap
}

extern "C" __global__ void hangs(float *y, const float *x, int n) {
    volatile float *never = y;
    never[0] = x[0];
    while (never[0] == x[0]) {  //~ error: hang
    }
}

extern "C" __global__ void writes_after(float *y, const float *x, int n) {
    if (threadIdx.x < n + 3) y[threadIdx.x] = x[min((int)threadIdx.x, n - 1)];  //~ error: out-of-bounds
}

extern "C" __global__ void writes_before(float *y, const float *x, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x == 0) y[-2] = 1.0f;  //~ error: out-of-bounds
}

extern "C" __global__ void reads_after(float *y, const float *x, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x + 1];  //~ error: out-of-bounds
}

extern "C" __global__ void reads_before(float *y, const float *x, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = x[(int)threadIdx.x - 1];  //~ error: out-of-bounds
}

extern "C" __global__ void reads_a_vector_too_many(float *y, const float *x, int n) {
    // the surplus is not used, and an aligned vector with one good element leaves no page: only a checker shows it
    int i = 4 * threadIdx.x;
    if (i >= n) return;
    float4 four = *(const float4 *)(x + i);  //~ error: out-of-bounds
    y[i] = four.x;
    if (i + 1 < n) y[i + 1] = four.y;
    if (i + 2 < n) y[i + 2] = four.z;
    if (i + 3 < n) y[i + 3] = four.w;
}

extern "C" __global__ void drops_the_last(float *y, const float *x, int n) {
    if (threadIdx.x < n - 1) y[threadIdx.x] = x[threadIdx.x];  //~ error: unwritten
}

extern "C" __global__ void adds_to_its_output(float *y, const float *x, int n) {
    if (threadIdx.x < n) y[threadIdx.x] += x[threadIdx.x];  //~ error: uninitialised
}

extern "C" __global__ void doubles_its_input(float *y, float *x, int n) {
    if (threadIdx.x < n) {
        y[threadIdx.x] = x[threadIdx.x];
        x[threadIdx.x] *= 2.0f;  //~ error: input-changed
    }
}

extern "C" __global__ void reads_unwritten_shared(float *y, const float *x, int n) {
    extern __shared__ float shared[];
    if (threadIdx.x < n - 1) shared[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = shared[threadIdx.x];  //~ error: uninitialised
}

extern "C" __global__ void reads_unwritten_static_shared(float *y, const float *x, int n) {
    __shared__ float shared[64];
    if (threadIdx.x < n - 1) shared[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = shared[threadIdx.x];  //~ error: uninitialised
}

extern "C" __global__ void races(float *y, const float *x, int n) {
    // no barrier between the write and the read of another thread
    extern __shared__ float shared[];
    shared[threadIdx.x] = x[min((int)threadIdx.x, n - 1)];  //~ warning: race
    if (threadIdx.x < n) y[threadIdx.x] = shared[n - 1 - threadIdx.x];
}

extern "C" __global__ void adds_in_any_order(float *y, const float *x, int n) {
    // any number of blocks; y starts at 0
    atomicAdd(y, x[(blockIdx.x * blockDim.x + threadIdx.x) % n] * (0.1f + threadIdx.x));  //~ warning: nondeterministic
}

extern "C" __global__ void reads_one_too_many_for_nothing(float *y, const float *x, int n) {
    // nothing depends on the value: only leaving memory, or a checker, shows it
    if (threadIdx.x < n) {
        (void)*(const volatile float *)(x + threadIdx.x + 1);  //~ error: out-of-bounds
        y[threadIdx.x] = x[threadIdx.x];
    }
}
