// cuBLASXt, for the text of a host function.
#pragma once
#include "cublas_v2.h"
#ifdef CUDA_ON_CPU_HOST
#include "cuda_on_cpu_host/cublas_xt.h"
#endif
