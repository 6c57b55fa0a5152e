// Arrays of 2^15 to 2^32 elements and more on a GPU: filled and checked there, since no host can copy 8 GB a trial.
//
// An array lies as [outer, rows, inner]: row r has `length` = outer * inner elements, and its element e lies at (e /
// inner * rows + r) * inner + e % inner. All inputs of row r are those of row r % KINDS (fuzz/devices/memory/vast.py), so that
// rows of one kind may have one answer: each row's answer is compared, bit for bit, with that of a judged row of its
// kind. Everything is counted in 64 bits. Elements have 1, 2, 4 or 8 bytes.

typedef unsigned long long Bits;
constexpr long long KINDS = 7;

__device__ long long place(long long row, long long e, long long rows, long long inner) {
    return (e / inner * rows + row) * inner + e % inner;
}

__device__ Bits bits(const void *array, long long at, int size) {
    if (size == 1) return static_cast<const unsigned char *>(array)[at];
    if (size == 2) return static_cast<const unsigned short *>(array)[at];
    if (size == 4) return static_cast<const unsigned *>(array)[at];
    return static_cast<const Bits *>(array)[at];
}

// The content of an input at a place: `one`, the bits of 1, in every second to eighth column by the kind, otherwise 0.
__device__ Bits given(long long at, long long rows, long long inner, Bits one) {
    const long long row = at / inner % rows, e = at / inner / rows * inner + at % inner, kind = row % KINDS;
    const bool is_late = kind != 0 && kind != 3 && kind != 5;
    return (e + is_late) % (2 + kind) == 0 ? one : 0;
}

extern "C" __global__ void write_alternating(void *array, long long length, long long rows, long long inner, int size, Bits one) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x, elements = length * rows;
    for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < elements; at += step) {
        const Bits value = given(at, rows, inner, one);
        if (size == 1) static_cast<unsigned char *>(array)[at] = static_cast<unsigned char>(value);
        else if (size == 2) static_cast<unsigned short *>(array)[at] = static_cast<unsigned short>(value);
        else if (size == 4) static_cast<unsigned *>(array)[at] = static_cast<unsigned>(value);
        else static_cast<Bits *>(array)[at] = value;
    }
}

// found: the first place of an input that has lost its content; it starts above all places.
extern "C" __global__ void find_changed(const void *array, long long length, long long rows, long long inner, int size,
                                         Bits one, Bits *found) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x, elements = length * rows;
    for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < elements; at += step) {
        if (bits(array, at, size) != given(at, rows, inner, one)) atomicMin(found, static_cast<Bits>(at));
    }
}

// unlike[r] becomes 1 if row r of an output has other bits than the row like[r % KINDS]; rows that are settled, or
// whose kind has no row to compare with (-1), are skipped. One block a row; the grid loops.
extern "C" __global__ void mark_unlike(const void *array, long long length, long long rows, long long inner, int size,
                                       const long long *like, const unsigned char *settled, unsigned char *unlike) {
    for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
        const long long other = like[row % KINDS];
        if (settled[row] || other < 0) continue;
        bool differs = false;
        for (long long e = threadIdx.x; e < length && !differs; e += blockDim.x) {
            differs = bits(array, place(row, e, rows, inner), size) != bits(array, place(other, e, rows, inner), size);
        }
        if (__syncthreads_or(differs) && threadIdx.x == 0) unlike[row] = 1;
    }
}

// A row that equals its row in every output is settled; the others are counted, and the first of each kind is kept.
extern "C" __global__ void settle(long long rows, const long long *like, unsigned char *settled, unsigned char *unlike,
                                  Bits *first, Bits *count) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; row < rows; row += step) {
        if (settled[row]) continue;
        if (like[row % KINDS] >= 0 && !unlike[row]) {
            settled[row] = 1;
            continue;
        }
        unlike[row] = 0;
        atomicMin(first + row % KINDS, static_cast<Bits>(row));
        atomicAdd(count, 1ull);
    }
}
