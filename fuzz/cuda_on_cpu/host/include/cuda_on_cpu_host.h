// CUDA C++ with host code: the header of a file whose host functions are compiled for the cpu device, too.
#pragma once
#include <chrono>  // which programs that time themselves have from CUDA's headers
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#define CUDA_ON_CPU_HOST 1
#include "cuda_on_cpu.h"
#include <assert.h>  // as in nvcc

#include "cuda_on_cpu_host/api.h"
#include "cuda_on_cpu_host/api_templates.h"
#include "cuda_on_cpu_host/arrays.h"
#include "cuda_on_cpu_host/driver.h"
#include "cuda_on_cpu_host/driver_memory.h"
#include "library_types.h"
#include "cuda_on_cpu_host/launching.h"
#include "cuda_on_cpu_host/launching_by_address.h"
#include "cuda_on_cpu_host/graphs.h"
#include "cuda_on_cpu_host/host_call.h"

// The effect of nvcc's -default-stream on a file. For a program, program.cpp asks the linker about all files.
extern "C" {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
__attribute__((weak)) void cuda_on_cpu_stream_0_is_per_thread() {}
#else
__attribute__((weak)) void cuda_on_cpu_stream_0_is_legacy() {}
#endif
}
