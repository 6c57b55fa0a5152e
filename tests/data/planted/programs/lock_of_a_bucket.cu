// A hash table with a lock for each bucket. With the bug, all buckets' locks protect one counter.
// class: locks; finds: race; grid: 2
// y: u32[9] = 0; locks: i32[8] = 0; x: in u32[2 * T]
__global__ void k(unsigned *y, int *locks, const unsigned *x) {
    const unsigned value = x[blockIdx.x * blockDim.x + threadIdx.x], bucket = value % 8;
    bool done = false;
    while (!done) {
        if (atomicCAS(&locks[bucket], 0, 1) == 0) {
            __threadfence();
            y[bucket] += value;
#ifdef BUG
            y[8] += 1;
#endif
            __threadfence();
            atomicExch(&locks[bucket], 0);
            done = true;
        }
    }
}
