// After all other headers of a file that nvcc passes to the host's compiler: such a file has CUDA's types and runtime API,
// but not CUDA's language, and may define functions that are CUDA's own elsewhere.
#undef __CUDACC__
#undef __CUDA_ARCH__
#define fmaxf cuda_on_cpu_fmaxf_of_the_host
#define fminf cuda_on_cpu_fminf_of_the_host
#define umax cuda_on_cpu_umax_of_the_host
#define umin cuda_on_cpu_umin_of_the_host
#define llmax cuda_on_cpu_llmax_of_the_host
#define llmin cuda_on_cpu_llmin_of_the_host
#define ullmax cuda_on_cpu_ullmax_of_the_host
#define ullmin cuda_on_cpu_ullmin_of_the_host
#define rsqrt cuda_on_cpu_rsqrt_of_the_host
#define rsqrtf cuda_on_cpu_rsqrtf_of_the_host
