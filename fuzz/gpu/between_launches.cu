// What runs between the launches of a job.

// Fills the shared memory of every multiprocessor with one word. What a block leaves there stays until another block
// writes it, so the kernel that is launched next finds this word wherever it reads before it writes.
// Volatile, or the compiler would see that nobody reads it.
// That it runs at all says that every launch before it has ended: `reached`, in the host's memory, is told which is next.
extern "C" __global__ void poison_shared(unsigned word, int words, volatile unsigned *reached, unsigned launch) {
    extern __shared__ volatile unsigned shared[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) shared[i] = word;
    if (blockIdx.x == 0 && threadIdx.x == 0) *reached = launch;
}

// Copies an image to the card or back: either side may be the host's memory.
extern "C" __global__ void move(uint4 *to, const uint4 *from, long long vectors) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += step) {
        to[i] = from[i];
    }
}
