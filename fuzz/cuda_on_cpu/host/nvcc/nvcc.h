// A program's own copy of CUDA's runtime, as the host code that nvcc has compiled calls it: with NVIDIA's parameters, under
// names that programs/through_nvcc.py gives its symbols.
#pragma once
#include <cstdint>

#include "../include/cuda_on_cpu_host/api.h"
#include "../include/cuda_on_cpu_host/graphs.h"

#define NVCC_HIDDEN extern "C" __attribute__((visibility("hidden")))
#define NVCC(name) NVCC_HIDDEN cudaError_t kfuzz_nvcc_##name

NVCC_HIDDEN const char __ehdr_start;

namespace cuda_on_cpu {

// NVIDIA's functions are not given the line of their call: in its place is the call's distance from the start of the
// program, with a bit that no line has (programs/call_lines.py).
constexpr uint32_t is_call = uint32_t{1} << 31;
inline int line_of(const void *back) {
  return static_cast<int>(is_call | static_cast<uint32_t>(static_cast<const char *>(back) - &__ehdr_start));
}
#define CALL_LINE ::cuda_on_cpu::line_of(__builtin_return_address(0))

// What the host calls a kernel or a variable of a module.
const void *kernel_of(const void *named);
void *variable_of(const void *named, size_t *bytes = nullptr);

}  // namespace cuda_on_cpu
