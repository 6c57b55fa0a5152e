// cuBLASLt, for the text of a host function.
#pragma once
#ifdef CUDA_ON_CPU_HOST
#include "cublas_v2.h"
#include "cuda_on_cpu_host/cublas_lt.h"
#endif
