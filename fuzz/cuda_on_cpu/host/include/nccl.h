// NCCL, for the text of a host function.
#pragma once
#ifdef CUDA_ON_CPU_HOST
#include "cuda_on_cpu_host/nccl.h"
#endif
