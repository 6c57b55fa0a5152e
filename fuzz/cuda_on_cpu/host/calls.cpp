// Calling a host function, and what it can see during the call.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "../runtime/arena.h"
#include "../runtime/block.h"
#include "../runtime/checker.h"
#include "../runtime/launch.h"
#include "../runtime/memory_map.h"
#include "../runtime/report.h"
#include "../runtime/state.h"
#include "host.h"
#include "nested_launches.h"

CUDA_ON_CPU_API cudaStream_t cuda_on_cpu_pool_stream(int is_urgent);
CUDA_ON_CPU_API void cuda_on_cpu_set_current_stream(cudaStream_t stream);
CUDA_ON_CPU_API bool cuda_on_cpu_next_call_overlaps();

namespace cuda_on_cpu {

namespace {

thread_local cudaError_t last_error;  // each thread of the host has its own
thread_local ClusterSides *asked;     // while a kernel is called for its clusters alone

struct HostCall {
  int silenced[2] = {-1, -1};  // the original standard output and error
  cudaError_t last_error_in_kernels = cudaSuccess;
};
PerRun<HostCall> call;

cudaError_t &last() { return is_asked_by_kernel() ? call.last_error_in_kernels : last_error; }

// The output of a host function is discarded: this process speaks to its caller over other pipes.
void silence() {
  if (run->is_program) return;  // this process is the program's
  fflush(stdout);
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (int i : {0, 1}) {
    call.silenced[i] = dup(i + 1);
    if (nowhere >= 0) dup2(nowhere, i + 1);
  }
  if (nowhere >= 0) close(nowhere);
}

void speak() {
  fflush(stdout);
  for (int i : {0, 1}) {
    if (call.silenced[i] < 0) continue;
    dup2(call.silenced[i], i + 1);
    close(call.silenced[i]);
    call.silenced[i] = -1;
  }
}

}  // namespace

void enter_host(bool enter) {
  note_in_host(enter);
  checker_pauses(enter);
  host_reaches(!enter);
}

void host_reaches(bool reaches_now) { allow_device_memory(reaches_now || is_in_operation() || !in_host()); }

void call_host(const Step &step) {
  void *args[max_args];
  uint64_t values[max_args];
  bind_arguments(step, args, values);
  last_error = cudaSuccess;
  silence();
  enter_host(true);
  if (run->has_own_streams) cuda_on_cpu_set_current_stream(cuda_on_cpu_pool_stream(0));
  step.entry->invoke(args);
  enter_host(false);
  if (!cuda_on_cpu_next_call_overlaps()) finish_work();
  speak();
  report_unseen_refusals();
}

void leave_host() {
  forget_operations();
  if (in_host()) enter_host(false);
  speak();
  if (run->is_program && run->status == Status::finished) report_unseen_refusals();
}

Within::Within() : was_in_host_(in_host()) {
  if (was_in_host_) enter_host(false);
}

Within::~Within() {
  if (was_in_host_) enter_host(true);
}

cudaError_t returns(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last() = error;
  return error;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUDA_ON_CPU_API cudaError_t cudaGetLastError() {
  Alone alone;
  cudaError_t error = last();
  last() = cudaSuccess;
  refusals_are_seen();
  return error;
}

CUDA_ON_CPU_API cudaError_t cudaPeekAtLastError() {
  Alone alone;
  refusals_are_seen();
  return last();
}

// The host has called a kernel as a function, or asks it for its clusters.
CUDA_ON_CPU_API void cuda_on_cpu_not_launched(ClusterSides own) {
  if (asked) {
    *asked = own;
    return;
  }
  Alone alone;
  last() = cudaErrorMissingConfiguration;
}

// The __cluster_dims__ of a kernel, which only it can say if they depend on its template's arguments.
CUDA_ON_CPU_API ClusterSides cuda_on_cpu_own_clusters(void (*invoke)(void **), void *bound) {
  ClusterSides own = {};
  asked = &own;
  invoke(&bound);
  asked = nullptr;
  return own;
}

CUDA_ON_CPU_API void cuda_on_cpu_host_refuses(const char *why, int line) { host_refuses(why, line); }

// Nothing waits between this call and the next one, which is on another stream.
CUDA_ON_CPU_API bool cuda_on_cpu_next_call_overlaps() { return run->has_own_streams && run->step + 1 < run->step_count; }

CUDA_ON_CPU_API void cuda_on_cpu_host_gives(const void *data, int type, int rank, const int64_t *sizes) {
  if (run->given_count == max_given || rank > static_cast<int>(max_rank)) host_refuses("kfuzz: too many results");
  Given &given = run->given[run->given_count++];
  given = {data, static_cast<uint32_t>(type), static_cast<uint32_t>(rank), {}};
  for (int i = 0; i < rank; i++) given.sizes[i] = sizes[i];
}

CUDA_ON_CPU_API void cuda_on_cpu_program_ends(int code) { end_program(code); }

CUDA_ON_CPU_API void cuda_on_cpu_host_exits(int code) {
  if (run->is_program) end_program(code);
  char words[64];
  snprintf(words, sizeof words, "it calls exit(%d)", code);
  host_refuses(words);
}

struct ErrorWords {
  cudaError_t error;
  const char *name, *words;
};

static const ErrorWords error_words[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "Invalid cluster size"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "capture was not initiated in this stream"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure", "the graph update was not performed"},
};

static const ErrorWords &words_of(cudaError_t error) {
  static const ErrorWords unknown = {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
  for (const ErrorWords &one : error_words)
    if (one.error == error) return one;
  return unknown;
}

CUDA_ON_CPU_API const char *cudaGetErrorString(cudaError_t error) { return words_of(error).words; }
CUDA_ON_CPU_API const char *cudaGetErrorName(cudaError_t error) { return words_of(error).name; }
