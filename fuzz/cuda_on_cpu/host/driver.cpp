// The driver's functions for tensor maps, and how programs of the runtime API find them.
#include "include/cuda_on_cpu_host/driver.h"

#include <cstdio>
#include <cstring>

#include "../runtime/block.h"
#include "../runtime/library_image.h"
#include "../runtime/report.h"
#include "../runtime/tensor_maps.h"
#include "host.h"

using namespace cuda_on_cpu;

namespace {

struct DriverFunction {
  const char *name;
  void *function;
};

const DriverFunction functions[] = {
    {"cuTensorMapEncodeTiled", reinterpret_cast<void *>(cuTensorMapEncodeTiled)},
    {"cuTensorMapReplaceAddress", reinterpret_cast<void *>(cuTensorMapReplaceAddress)},
    {"cuGetErrorString", reinterpret_cast<void *>(cuGetErrorString)},
    {"cuGetErrorName", reinterpret_cast<void *>(cuGetErrorName)},
    {"cuInit", reinterpret_cast<void *>(cuInit)},
};

struct Words {
  CUresult error;
  const char *name, *words;
};
const Words errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const Words *words_of(CUresult error) {
  for (const Words &one : errors)
    if (one.error == error) return &one;
  return nullptr;
}

}  // namespace

CUDA_ON_CPU_API CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *start, const cuuint64_t *sizes,
                                                const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps,
                                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion,
                                                CUtensorMapFloatOOBfill fill) {
  AskedMap asked = {type, rank, start, sizes, strides, box, steps, interleave, swizzle, l2_promotion, fill};
  RefusedMap refused = encode(map, asked);
  if (refused == RefusedMap::no) {
    if (const char *what = lacks(asked)) host_refuses(what);
    return CUDA_SUCCESS;
  }
  uint64_t pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - library_start(*run->module);
  if (Finding *f = report(Kind::map_refused, pc, 0)) {
    f->work = Work::host;
    f->detail = static_cast<uint64_t>(refused);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUDA_ON_CPU_API CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *start) {
  if (!map || !is_made(map) || !start || reinterpret_cast<uintptr_t>(start) % 16) return CUDA_ERROR_INVALID_VALUE;
  TensorMap changed = map_at(map);
  changed.start = reinterpret_cast<uintptr_t>(start);
  change(map, changed);
  return CUDA_SUCCESS;
}

CUDA_ON_CPU_API CUresult cuGetErrorString(CUresult error, const char **words) {
  const Words *one = words_of(error);
  *words = one ? one->words : nullptr;
  return one ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUDA_ON_CPU_API CUresult cuGetErrorName(CUresult error, const char **name) {
  const Words *one = words_of(error);
  *name = one ? one->name : nullptr;
  return one ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUDA_ON_CPU_API CUresult cuInit(unsigned int flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }

static CUresult set_elements(CUdeviceptr to, unsigned int value, unsigned int size, size_t count, cudaStream_t stream, int line,
                             const void *back) {
  if (to % size) return CUDA_ERROR_INVALID_VALUE;
  cudaMemsetParams asked = {};
  asked.dst = reinterpret_cast<void *>(to);
  asked.value = value;
  asked.elementSize = size;
  asked.width = count;
  asked.height = 1;
  Alone alone;
  return set_on(stream, asked, line, back) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUDA_ON_CPU_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream, int line) {
  return set_elements(to, value, 1, count, stream, line, __builtin_return_address(0));
}
CUDA_ON_CPU_API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream, int line) {
  return set_elements(to, value, 2, count, stream, line, __builtin_return_address(0));
}
CUDA_ON_CPU_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream, int line) {
  return set_elements(to, value, 4, count, stream, line, __builtin_return_address(0));
}

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_driver_entry(const char *symbol, void **function, cudaDriverEntryPointQueryResult *found) {
  if (!symbol || !function) return returns(cudaErrorInvalidValue);
  *function = nullptr;
  for (const DriverFunction &one : functions)
    if (!strcmp(one.name, symbol)) *function = one.function;
  if (!*function) {
    char words[128];
    snprintf(words, sizeof words, "kfuzz has no driver function %.64s", symbol);
    host_refuses(words);
  }
  if (found) *found = cudaDriverEntryPointSuccess;
  return returns(cudaSuccess);
}
