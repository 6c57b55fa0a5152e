// State and value of each block in one 64-bit word. With the bug, they are in two words.
// class: look-back; finds: race; grid: 5
// y: u32[5]; state: u32[20] = 0; x: in u32[5]
__global__ void k(unsigned *y, unsigned *state, const unsigned *x) {
    if (threadIdx.x != 0) {
        return;
    }
    const int b = blockIdx.x;
    unsigned before = 0;
    if (b > 0) {
#ifdef BUG
        while (atomicAdd(&state[4 * (b - 1)], 0) == 0) {
        }
        before = state[4 * (b - 1) + 1];
#else
        unsigned long long *word = reinterpret_cast<unsigned long long *>(&state[4 * (b - 1)]), seen;
        while ((seen = atomicAdd(word, 0ull)) == 0) {
        }
        before = static_cast<unsigned>(seen >> 1);
#endif
    }
    const unsigned sum = before + x[b] + 1;
#ifdef BUG
    state[4 * b + 1] = sum;
    atomicExch(&state[4 * b], 1);
#else
    atomicExch(reinterpret_cast<unsigned long long *>(&state[4 * b]), 2ull * sum + 1);
#endif
    y[b] = sum;
}
