// The kernels and variables of a PTX module whose host code nvcc has compiled: what the host names by its own addresses.
#pragma once
#include <stdint.h>

namespace cuda_on_cpu {

struct PtxParameterPlace {
  uint32_t at, bytes;
};
// `places` are those of its parameters, and `cluster` is what the kernel itself asks for.
struct PtxKernel {
  const char *name;
  void (*body)(uint64_t parameters);
  const PtxParameterPlace *places;
  uint32_t count, bytes;
  uint32_t cluster[3], block[3], most_threads;
};
struct PtxSymbol {
  const char *name;
  void *at;
};
struct PtxProgram {
  const PtxKernel *kernels;
  const PtxSymbol *symbols;
  uint32_t kernel_count, symbol_count;
};

}  // namespace cuda_on_cpu
