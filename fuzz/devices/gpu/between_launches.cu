// Kernels that run between the launches of a job.

// Fills the shared memory of every multiprocessor with one word. A block's shared memory keeps its content until
// another block writes it, so the next kernel finds this word wherever it reads before it writes. Volatile, or the
// compiler would see that nothing reads it. When this runs, every launch before it has ended: it stores the next one's
// number in `reached`, in host memory.
extern "C" __global__ void poison_shared(unsigned word, int words, volatile unsigned *reached, unsigned launch) {
    extern __shared__ volatile unsigned shared[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) shared[i] = word;
    if (blockIdx.x == 0 && threadIdx.x == 0) *reached = launch;
}

// Copies an image to the GPU or back: either side may be host memory.
extern "C" __global__ void move(uint4 *to, const uint4 *from, long long vectors) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += step) {
        to[i] = from[i];
    }
}
