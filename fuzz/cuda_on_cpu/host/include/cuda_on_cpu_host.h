// CUDA C++ with host code: what a file sees when its host functions are compiled for the cpu device, too.
#pragma once
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#define CUDA_ON_CPU_HOST 1
#include "cuda_on_cpu.h"
#include <assert.h>  // as nvcc has it

#include "cuda_on_cpu_host/api.h"
#include "cuda_on_cpu_host/api_templates.h"
#include "cuda_on_cpu_host/launching.h"
#include "cuda_on_cpu_host/launching_by_address.h"
#include "cuda_on_cpu_host/graphs.h"
#include "cuda_on_cpu_host/host_call.h"

// What nvcc's -default-stream says of a file. Of a program, program.cpp asks the linker what all of them say.
extern "C" {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
__attribute__((weak)) void cuda_on_cpu_stream_0_is_per_thread() {}
#else
__attribute__((weak)) void cuda_on_cpu_stream_0_is_legacy() {}
#endif
}
