// A kernel library as it lies in memory: its extent, and its __device__ variables.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

uintptr_t library_start(const Module &module);
uintptr_t library_end(const Module &module);
uintptr_t variables_start(const Module &module);
uintptr_t variables_bytes(const Module &module);

// __device__ and static variables keep what the last launch left in them; every run must start from what the
// source says. The first call for a library remembers, later ones restore.
void restore_globals(const Module &module);
void forget_library(const Module &module);

}  // namespace cuda_on_cpu
