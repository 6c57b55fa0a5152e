// Fills the shared memory of every multiprocessor with one word. What a block leaves there stays until another block
// writes it, so the kernel that is launched next finds this word wherever it reads before it writes.
// Volatile, or the compiler would see that nobody reads it.
// That it runs at all says that every launch before it has ended: `reached`, in the host's memory, is told which is next.
extern "C" __global__ void poison_shared(unsigned word, int words, volatile unsigned *reached, unsigned launch) {
    extern __shared__ volatile unsigned shared[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) shared[i] = word;
    if (blockIdx.x == 0 && threadIdx.x == 0) *reached = launch;
}
