// The approximations that have no name in CUDA, measured as in gpu_functions.cu: no device but a GPU has PTX.
#include "gpu_functions.cu"

#define APPROXIMATED(Name, instruction, truth)                           \
    struct Name {                                                        \
        static __device__ float of(float t) {                            \
            float y;                                                     \
            asm(instruction ".approx.f32 %0, %1;" : "=f"(y) : "f"(t)); \
            return y;                                                    \
        }                                                                \
        static __device__ double exact(double t) { return truth; }       \
    };

APPROXIMATED(ApproximateTanh, "tanh", tanh(t))
APPROXIMATED(ApproximateSqrt, "sqrt", sqrt(t))
