// What the shim is built on: the CUDA runtime API of the cpu device, or NVIDIA's own.
#pragma once
#ifndef __NVCC__
#include "../../../include/cuda_on_cpu_host/api.h"
#else
#include <cuda_runtime.h>
#define CUDA_ON_CPU_LINE int line = __builtin_LINE()
#define CUDA_ON_CPU_IMPORT extern "C"
enum CudaOnCpuMemory { cuda_on_cpu_device_memory };
CUDA_ON_CPU_IMPORT cudaError_t cuda_on_cpu_allocate(void **to, size_t bytes, int kind, int line);
CUDA_ON_CPU_IMPORT cudaError_t cuda_on_cpu_release(void *memory);
#endif
// For each thread: the stream of torch's own operations; and the next of the streams in torch's pool.
CUDA_ON_CPU_IMPORT cudaStream_t cuda_on_cpu_current_stream();
CUDA_ON_CPU_IMPORT void cuda_on_cpu_set_current_stream(cudaStream_t stream);
CUDA_ON_CPU_IMPORT cudaStream_t cuda_on_cpu_pool_stream(int is_urgent);
