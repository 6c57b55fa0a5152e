// A slot is filled and read in turns, by two of PTX's mbarriers. With the bug, the first warp does not wait until it is read.
// class: barriers; finds: race; grid: 2
// y: i32[2 * T]; x: in i32[4 * T]
#include <cstdint>

__device__ unsigned at(const void *p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void arrive(uint64_t *barrier) {
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared::cta.b64 state, [%0];\n}\n" ::"r"(at(barrier)) : "memory");
}

__device__ bool is_over(uint64_t *barrier, unsigned parity) {
    unsigned over;
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.b32 %0, 1, 0, p;\n}\n"
        : "=r"(over) : "r"(at(barrier)), "r"(parity) : "memory");
    return over;
}

__device__ void wait(uint64_t *barrier, unsigned parity) {
    asm volatile(
        "{\n.reg .pred P1;\n"
        "LAB_WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
        "@P1 bra DONE;\n"
        "bra LAB_WAIT;\n"
        "DONE:\n}\n" ::"r"(at(barrier)), "r"(parity) : "memory");
}

__global__ void k(int *y, const int *x) {
    __shared__ uint64_t full, empty;
    __shared__ int slot[32];
    const int t = threadIdx.x, lane = t % 32;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&full)), "r"(32));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&empty)), "r"(blockDim.x - 32));
    }
    __syncthreads();
    int sum = 0;
    for (int turn = 0; turn < 2; turn++) {
        if (t < 32) {
#ifndef BUG
            if (turn > 0) {
                while (!is_over(&empty, turn - 1)) {
                }
            }
#endif
            slot[lane] = x[turn * 32 + lane];
            arrive(&full);
        } else {
            if (turn == 0) {
                wait(&full, 0);
            } else {
                wait(&full, 1);
            }
            sum += slot[31 - lane];
            arrive(&empty);
        }
    }
    y[blockIdx.x * blockDim.x + t] = sum;
}
