// The dynamic shared memory of the running block.
#pragma once
#include "abi.h"

constexpr uint64_t dynamic_shared_capacity = 232448;  // 227 KB, what the largest cards give a block
constexpr uint64_t dynamic_shared_red_zone = 65536;
CUDA_ON_CPU_API char cuda_on_cpu_dynamic_shared[];
