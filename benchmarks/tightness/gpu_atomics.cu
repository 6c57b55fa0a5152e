// One atomic operation on one cell by one thread, for every pair of numbers: what the cell holds then, and what the
// operation gave back. A template instance for each type, place and way: benchmarks/tightness/gpu_atomics.py names them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
struct As;

template <>
struct As<float> {
    static __device__ float from(double v) { return static_cast<float>(v); }
    static __device__ double to(float v) { return v; }
};
template <>
struct As<double> {
    static __device__ double from(double v) { return v; }
    static __device__ double to(double v) { return v; }
};
#ifndef CUDA_ON_CPU
template <>
struct As<__half> {
    static __device__ __half from(double v) { return __double2half(v); }
    static __device__ double to(__half v) { return __half2float(v); }
};
template <>
struct As<__half2> {
    static __device__ __half2 from(double v) { return __half2half2(__double2half(v)); }
    static __device__ double to(__half2 v) { return __low2float(v); }
};
template <>
struct As<__nv_bfloat16> {
    static __device__ __nv_bfloat16 from(double v) { return __double2bfloat16(v); }
    static __device__ double to(__nv_bfloat16 v) { return __bfloat162float(v); }
};
template <>
struct As<__nv_bfloat162> {
    static __device__ __nv_bfloat162 from(double v) { return __bfloat162bfloat162(__double2bfloat16(v)); }
    static __device__ double to(__nv_bfloat162 v) { return __low2float(v); }
};
#endif

// atom: what was there is used, so that the compiler cannot choose red
struct Atom {
    template <class T>
    static __device__ T apply(T *cell, T value) {
        return atomicAdd(cell, value);
    }
};

// red: what was there is not asked for
struct Red {
    template <class T>
    static __device__ T apply(T *cell, T value) {
        atomicAdd(cell, value);
        return value;
    }
};

struct Exchange {
    static __device__ float apply(float *cell, float value) { return atomicExch(cell, value); }
};

// the usual maximum of floats that are not negative, through their bits
struct MaxOfBits {
    static __device__ float apply(float *cell, float value) {
        return __int_as_float(atomicMax(reinterpret_cast<int *>(cell), __float_as_int(value)));
    }
};

// the programming guide's addition by compare and swap: the sum is computed in a register
struct CompareAndSwap {
    static __device__ float apply(float *cell, float value) {
        unsigned int *word = reinterpret_cast<unsigned int *>(cell), old = *word, assumed;
        do {
            assumed = old;
            old = atomicCAS(word, assumed, __float_as_uint(__uint_as_float(assumed) + value));
        } while (old != assumed);
        return __uint_as_float(old);
    }
};

template <class T, class How, bool is_shared>
__global__ void one(double *after, double *before, unsigned long long *cells, const double *a, const double *b) {
    __shared__ unsigned long long near[32];
    const int t = threadIdx.x;
    T *cell = is_shared ? reinterpret_cast<T *>(&near[t]) : reinterpret_cast<T *>(&cells[t]);
    *cell = As<T>::from(a[t]);
    __syncthreads();
    before[t] = As<T>::to(How::apply(cell, As<T>::from(b[t])));
    __syncthreads();
    after[t] = As<T>::to(*cell);
}
