// Kernels that do not end normally. Marks name each finding on its line.
#include <cassert>
#include <fcntl.h>
#include <unistd.h>

__global__ void spins(volatile int *flag) {
    while (*flag == 0) {  //~ error: hang
    }
}

__global__ void loops(float *y, int n) {
    float sum = 0.0f;
    for (unsigned i = 0; i != static_cast<unsigned>(n) || sum < 0.0f; i += 2) {  //~ error: hang
        sum += i * 1e-30f;  //~ error: hang
    }
    y[0] = sum;
}

__global__ void loops_over_barriers(float *y, int n) {
    for (int i = 0; i != n; i += 2) {  //~ error: hang
        __syncthreads();  //~ error: hang
    }
    y[0] = n;
}

__global__ void divides_by_zero(int *y, int n) {
    y[threadIdx.x] = 10 / n;  //~ error: trap
}

__global__ void writes_through_a_wild_pointer(float *y, int n) {
    float *wild = reinterpret_cast<float *>(static_cast<size_t>(n) << 20);
    wild[threadIdx.x] = 1.0f;  //~ error: illegal-address
    y[0] = 1.0f;
}

__device__ int deeper(volatile int *at, int n) {
    volatile int here[64];
    here[n & 63] = n;
    return deeper(here, n + 1) + at[n & 63];
}

__global__ void recurses_forever(int *y) {
    y[0] = deeper(y, 0);
}

__global__ void takes_all_memory(float *y) {
    float *much = static_cast<float *>(malloc(100000000000ull));
    much[threadIdx.x] = 1.0f;  //~ error: illegal-address
    y[0] = much[0];
}

__global__ void aborts() {
    abort();
}

__global__ void exits() {
    exit(3);
}

__global__ void traps() {
    __trap();  //~ error: trap
}

__global__ void asserts(int n) {
    assert(n > 1000);  //~ error: trap
}

__global__ void forks_and_goes_on(float *y) {
    y[0] = fork() < 0 ? 2.0f : 1.0f;
}

__global__ void forks_and_the_copy_stays(float *y, int has_a_session, int then_spins) {
    const int child = fork();
    if (child == 0) {
        if (has_a_session) setsid();
        for (;;) pause();
    }
    while (then_spins && y[1] == 0.0f) {}
    y[0] = child < 0 ? 2.0f : 1.0f;
}

__global__ void writes_a_file(float *y) {
    const int file = open("/tmp/kfuzz-a-kernel-wrote-this", O_CREAT | O_WRONLY, 0600);
    y[0] = file >= 0 && write(file, "x", 1) == 1;
    unlink("/tmp/kfuzz-a-kernel-wrote-this");
}

__global__ void is_fine(float *y) {
    y[threadIdx.x] = 1.0f;
}
