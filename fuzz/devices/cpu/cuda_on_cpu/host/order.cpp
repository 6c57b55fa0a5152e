// Streams and events. Whatever a host function asks for is done at once, in the order in which it asks.
#include "host.h"

using namespace cuda_on_cpu;

struct CudaOnCpuStream {
  bool is_alive;
};
struct CudaOnCpuEvent {
  bool is_alive;
  uint64_t recorded;  // at so many recordings, 0 for never
};

namespace {

constexpr int most_handles = 1024;
CudaOnCpuStream streams[most_handles];
CudaOnCpuEvent events[most_handles];
uint64_t recordings;

template <class Handle>
cudaError_t made(Handle **to, Handle (&all)[most_handles]) {
  for (Handle &one : all) {
    if (one.is_alive) continue;
    one = {};
    one.is_alive = true;
    *to = &one;
    return cudaSuccess;
  }
  return returns(cudaErrorMemoryAllocation);
}

bool is_stream(cudaStream_t stream) {
  return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread || stream->is_alive;
}

cudaError_t known(bool is_known) { return is_known ? cudaSuccess : returns(cudaErrorInvalidResourceHandle); }

}  // namespace

namespace cuda_on_cpu {
void forget_handles() {
  for (int i = 0; i < most_handles; i++) streams[i] = {}, events[i] = {};
  recordings = 0;
}
}  // namespace cuda_on_cpu

// A launch that was refused is told by cudaGetLastError alone; what goes wrong within a kernel ends the run at once.
CUDA_ON_CPU_API cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
CUDA_ON_CPU_API cudaError_t cudaThreadSynchronize() { return cudaSuccess; }

CUDA_ON_CPU_API cudaError_t cudaStreamCreate(cudaStream_t *stream) { return made(stream, streams); }
CUDA_ON_CPU_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int) { return made(stream, streams); }
CUDA_ON_CPU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int, int) {
  return made(stream, streams);
}
CUDA_ON_CPU_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread || !stream->is_alive)
    return returns(cudaErrorInvalidResourceHandle);
  stream->is_alive = false;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return known(is_stream(stream)); }
CUDA_ON_CPU_API cudaError_t cudaStreamQuery(cudaStream_t stream) { return known(is_stream(stream)); }
CUDA_ON_CPU_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return known(is_stream(stream) && event && event->is_alive);
}
CUDA_ON_CPU_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t called, void *data, unsigned int) {
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  called(stream, cudaSuccess, data);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t called, void *data) {
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  called(data);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaEventCreate(cudaEvent_t *event) { return made(event, events); }
CUDA_ON_CPU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int) { return made(event, events); }
CUDA_ON_CPU_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!event || !event->is_alive) return returns(cudaErrorInvalidResourceHandle);
  event->is_alive = false;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!event || !event->is_alive || !is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  event->recorded = ++recordings;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaEventQuery(cudaEvent_t event) { return known(event && event->is_alive); }
CUDA_ON_CPU_API cudaError_t cudaEventSynchronize(cudaEvent_t event) { return known(event && event->is_alive); }

// No time passes here: what lies between two events is as many milliseconds as there were recordings, never 0.
CUDA_ON_CPU_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!start || !end || !start->recorded || !end->recorded) return returns(cudaErrorInvalidResourceHandle);
  *milliseconds = static_cast<float>(static_cast<int64_t>(end->recorded - start->recorded));
  return cudaSuccess;
}
