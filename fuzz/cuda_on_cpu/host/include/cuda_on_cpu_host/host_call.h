// Passing a host function to the runtime, as entry.h does with a kernel: it is called once, and may refuse.
#pragma once
#include "../../../include/cuda_on_cpu/entry.h"
#include "api.h"
#include "refusal.h"

CUDA_ON_CPU_IMPORT void cuda_on_cpu_host_refuses(const char *why, int line);

// A host function refuses by throwing: no exception leaves it otherwise.
#define CUDA_ON_CPU_HOST_CALL(number, name, declared, ...)         \
  static void cuda_on_cpu_host_call_##number declared {            \
    try {                                                          \
      __VA_ARGS__;                                                 \
    } catch (const ::cuda_on_cpu_host::Refusal &error) {           \
      cuda_on_cpu_host_refuses(error.what(), error.line);          \
    } catch (const std::exception &error) {                        \
      cuda_on_cpu_host_refuses(error.what(), 0);                   \
    } catch (...) {                                                \
      cuda_on_cpu_host_refuses("an exception that is not a std::exception", 0); \
    }                                                              \
  }                                                                \
  CUDA_ON_CPU_ENTRY(name, cuda_on_cpu_host_call_##number)
// For a function of tensors: `tensors` makes them from the declared arrays.
#define CUDA_ON_CPU_TORCH_CALL(number, name, declared, tensors, ...) \
  CUDA_ON_CPU_HOST_CALL(number, name, declared, tensors ::kfuzz_torch::give_what([&] { return __VA_ARGS__; }))
