// Finds what has changed in painted memory: the first and the last vector that is not four times the word, and how many
// words are not it. `found` begins as {the largest number, 0, 0}.

typedef unsigned long long Bits;

extern "C" __global__ void find_changed(const uint4 *memory, Bits vectors, unsigned word, Bits *found) {
    const Bits step = static_cast<Bits>(gridDim.x) * blockDim.x;
    Bits first = ~0ull, last = 0, words = 0;
    for (Bits i = static_cast<Bits>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += step) {
        const uint4 v = memory[i];
        const int changed = (v.x != word) + (v.y != word) + (v.z != word) + (v.w != word);
        if (!changed) continue;
        if (!words) first = i;
        last = i;
        words += changed;
    }
    if (!words) return;
    atomicMin(found, first);
    atomicMax(found + 1, last);
    atomicAdd(found + 2, words);
}
