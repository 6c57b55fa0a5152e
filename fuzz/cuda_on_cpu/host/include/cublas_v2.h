// cuBLAS, for the text of a host function.
#pragma once
#ifdef CUDA_ON_CPU_HOST
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda_on_cpu_host/cublas.h"
#endif
