// Measures every function that a formula may name, on all floats, against the same function of doubles; and those of the
// 16-bit types on all of their numbers, whose answers are handed back as they are. A function of doubles is right to a
// few 2^-53, which is 2^-27 u here.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define MEASURED(Name, call, truth)                                \
    struct Name {                                                  \
        static __device__ float of(float t) { return call; }       \
        static __device__ double exact(double t) { return truth; } \
    };

MEASURED(Exp, expf(t), exp(t))
MEASURED(Exp2, exp2f(t), exp2(t))
MEASURED(Expm1, expm1f(t), expm1(t))
MEASURED(Log, logf(t), log(t))
MEASURED(Log2, log2f(t), log2(t))
MEASURED(Log1p, log1pf(t), log1p(t))
MEASURED(Log10, log10f(t), log10(t))
MEASURED(Sin, sinf(t), sin(t))
MEASURED(Cos, cosf(t), cos(t))
MEASURED(Sqrt, sqrtf(t), sqrt(t))
MEASURED(Rsqrt, rsqrtf(t), 1.0 / sqrt(t))
MEASURED(RsqrtOfRoot, 1.0f / sqrtf(t), 1.0 / sqrt(t))
MEASURED(Tanh, tanhf(t), tanh(t))
MEASURED(Erf, erff(t), erf(t))
MEASURED(Erfc, erfcf(t), erfc(t))
MEASURED(Reciprocal, __frcp_rn(t), 1.0 / t)
MEASURED(FastExp, __expf(t), exp(t))
MEASURED(FastLog, __logf(t), log(t))
MEASURED(FastLog2, __log2f(t), log2(t))
MEASURED(FastReciprocal, __fdividef(1.0f, t), 1.0 / t)

constexpr int THREADS = 256;

template <typename F>
__global__ void function_sweep(double *relative, unsigned *at, double *absolute, double *denormal, unsigned *flushed,
                               unsigned *odd, unsigned *tried, const unsigned *bounds, int stride) {
    // all but bounds are (ranges, blocks), bounds is (ranges, 2): the first and the last bits; grid is (blocks, ranges)
    __shared__ double worst[3][THREADS];
    __shared__ unsigned place[THREADS], counts[3];
    const double u = 0x1p-24, least_normal = 0x1p-126, half_of_least = 0x1p-150;
    const unsigned long long last = bounds[2 * blockIdx.y + 1];
    const int thread = threadIdx.x;
    if (thread < 3) {
        counts[thread] = 0;
    }
    __syncthreads();

    double of_relative = -1.0, of_absolute = 0.0, of_denormal = 0.0;
    unsigned bits_of_worst = 0, zeros = 0, unlike = 0, compared = 0;
    unsigned long long bits = bounds[2 * blockIdx.y] +
                              (static_cast<unsigned long long>(blockIdx.x) * THREADS + thread) * stride;
    for (; bits <= last; bits += static_cast<unsigned long long>(gridDim.x) * THREADS * stride) {
        const float t = __uint_as_float(static_cast<unsigned>(bits));
        const float got = F::of(t);
        const double want = F::exact(static_cast<double>(t));
        const float rounded = static_cast<float>(want);
        if (isnan(rounded) || isinf(rounded) || isnan(got) || isinf(got)) {
            unlike += isnan(rounded) != isnan(got) || isinf(rounded) != isinf(got);
            continue;
        }
        ++compared;
        const double error = fabs(got - want);
        of_absolute = fmax(of_absolute, error);
        if (want == 0.0) {
            unlike += got != 0.0f;
        } else if (got == 0.0f && fabs(want) >= 2.0 * half_of_least) {
            ++zeros;
        } else if (fabs(want) < least_normal) {
            of_denormal = fmax(of_denormal, error / half_of_least);
        } else if (error / (fabs(want) * u) > of_relative) {
            of_relative = error / (fabs(want) * u);
            bits_of_worst = static_cast<unsigned>(bits);
        }
    }
    worst[0][thread] = of_relative;
    worst[1][thread] = of_absolute;
    worst[2][thread] = of_denormal;
    place[thread] = bits_of_worst;
    atomicAdd(&counts[0], zeros);
    atomicAdd(&counts[1], unlike);
    atomicAdd(&counts[2], compared);
    __syncthreads();
    if (thread == 0) {
        for (int other = 1; other < THREADS; ++other) {
            if (worst[0][other] > worst[0][0]) {
                worst[0][0] = worst[0][other];
                place[0] = place[other];
            }
            worst[1][0] = fmax(worst[1][0], worst[1][other]);
            worst[2][0] = fmax(worst[2][0], worst[2][other]);
        }
        const int out = blockIdx.y * gridDim.x + blockIdx.x;
        relative[out] = worst[0][0];
        absolute[out] = worst[1][0];
        denormal[out] = worst[2][0];
        at[out] = place[0];
        flushed[out] = counts[0];
        odd[out] = counts[1];
        tried[out] = counts[2];
    }
}

#define NARROW(Name, call)                     \
    struct Name {                              \
        template <typename T>                  \
        static __device__ T of(T t) {          \
            return call;                       \
        }                                      \
    };

NARROW(NarrowExp, hexp(t))
NARROW(NarrowExp2, hexp2(t))
NARROW(NarrowLog, hlog(t))
NARROW(NarrowSqrt, hsqrt(t))
NARROW(NarrowRsqrt, hrsqrt(t))
NARROW(NarrowReciprocal, hrcp(t))
NARROW(NarrowTanh, htanh(t))
NARROW(NarrowFastTanh, htanh_approx(t))

template <typename F>
__global__ void half_sweep(unsigned short *y) {
    // y is (65536): the answer to every bit pattern
    const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
    y[bits] = __half_as_ushort(F::of(__ushort_as_half(static_cast<unsigned short>(bits))));
}

template <typename F>
__global__ void bfloat_sweep(unsigned short *y) {
    // y is (65536): the answer to every bit pattern
    const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
    y[bits] = __bfloat16_as_ushort(F::of(__ushort_as_bfloat16(static_cast<unsigned short>(bits))));
}
