// CUDA C++ with host code over torch's C++ API.
#pragma once
#include "cuda_on_cpu_host.h"

#include "kfuzz_torch/all.h"
