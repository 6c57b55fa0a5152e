// A kernel library as it lies in memory: its extent, and its __device__ variables.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

uintptr_t library_start(const Module &module);
uintptr_t library_end(const Module &module);
uintptr_t variables_start(const Module &module);
uintptr_t variables_bytes(const Module &module);

// __device__ and static variables keep what the last launch left in them, but every run must start from the values in
// the source. The first call for a library saves them, later calls restore them.
void restore_globals(const Module &module);
void forget_library(const Module &module);

}  // namespace cuda_on_cpu
