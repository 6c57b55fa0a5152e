// CUDA C++ with host code over torch's C++ API.
#pragma once
#include "cuda_on_cpu_host.h"

#include "kfuzz_torch/all.h"

// CUDA's max and min of narrow numbers: they convert to float, and so does the answer.
#define CUDA_ON_CPU_OF_NARROW(name, A, B) \
  static inline float name(A a, B b) { return name(static_cast<float>(a), static_cast<float>(b)); }
#define CUDA_ON_CPU_OF_NARROWS(name, T) \
  CUDA_ON_CPU_OF_NARROW(name, T, T) CUDA_ON_CPU_OF_NARROW(name, T, float) CUDA_ON_CPU_OF_NARROW(name, float, T)
CUDA_ON_CPU_OF_NARROWS(max, c10::Half)
CUDA_ON_CPU_OF_NARROWS(min, c10::Half)
CUDA_ON_CPU_OF_NARROWS(max, c10::BFloat16)
CUDA_ON_CPU_OF_NARROWS(min, c10::BFloat16)
