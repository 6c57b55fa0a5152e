// Measures a float32 exp against the double-precision one: the threads together walk the floats -0, -1.4e-45, ... -104
// (for base 2: -150), and each keeps the worst error that it met. exp of a double is right to 2^-52, which is 2^-28 u
// here.
//
// k counts the floats down from -0: the float with bits 0x80000000 + k.
struct Accurate {
    static __device__ float of(float t) { return expf(t); }
    static __device__ double exact(double t) { return exp(t); }
};

struct Fast {
    static __device__ float of(float t) { return __expf(t); }
    static __device__ double exact(double t) { return exp(t); }
};

// With -ftz=true this is ex2.approx.ftz alone.
struct Base2 {
    static __device__ float of(float t) { return exp2f(t); }
    static __device__ double exact(double t) { return exp2(t); }
};

__device__ float float_below_zero(unsigned k) {
    return __uint_as_float(0x80000000u + k);
}

// relative, kappa, subnormal, flushed and rises are (threads,); ends is (2,)
template <typename Exp>
__global__ void exp_sweep(double *relative, double *kappa, double *subnormal, unsigned *flushed, unsigned *rises,
                          float *ends, int last, int stride, int a0) {
    const double u = 1.0 / (1 << 24);
    const double smallest_normal = 0x1p-126, smallest = 0x1p-149;
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    double worst_relative = 0.0, worst_kappa = 0.0, worst_subnormal = 0.0;
    unsigned zeros = 0, ups = 0;
    for (long long k = (long long)thread * stride; k <= last; k += (long long)threads * stride) {
        float t = float_below_zero((unsigned)k);
        float got = Exp::of(t);
        double want = Exp::exact((double)t);
        double error = fabs((double)got - want);
        if (want >= smallest_normal && got >= smallest_normal) {
            double units = error / (want * u);
            worst_relative = fmax(worst_relative, units);
            if (t < 0.0f) {
                worst_kappa = fmax(worst_kappa, (units - a0) / -(double)t);
            }
        } else if (got == 0.0f && want >= smallest) {
            zeros++;
        } else {
            worst_subnormal = fmax(worst_subnormal, error / (0.5 * smallest));
        }
        // t > the next float, so exp must not rise from the one to the other
        if (k < last && Exp::of(float_below_zero((unsigned)k + 1)) > got) {
            ups++;
        }
    }
    relative[thread] = worst_relative;
    kappa[thread] = worst_kappa;
    subnormal[thread] = worst_subnormal;
    flushed[thread] = zeros;
    rises[thread] = ups;
    if (thread == 0) {
        ends[0] = Exp::of(0.0f);
        ends[1] = Exp::of(-INFINITY);
    }
}
