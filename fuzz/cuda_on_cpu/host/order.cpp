// Streams and events. All work that a host function starts is done at once, in the order of the calls; work.h knows
// what that order leaves open.
#include "../runtime/repetitions.h"
#include "../runtime/checker.h"
#include "../runtime/state.h"
#include "deferred.h"
#include "host.h"
#include "nested_launches.h"

using namespace cuda_on_cpu;

struct CudaOnCpuStream {
  bool is_alive;
  Timeline timeline;
  unsigned int flags;
};
struct CudaOnCpuEvent {
  bool is_alive;
  uint64_t recorded;  // the number of recordings then, 0 for never
  Done done;
  CapturedEvent captured;
};

namespace {

constexpr int most_handles = 1 << 15;  // a program in public cuts 16 M numbers into chunks of 1024, with a stream for each

// The handles: the first `used` are in use.
template <class Handle>
struct Table {
  Handle at[most_handles];
  int used;
  Table() : used(0) {}
};

struct Handles {
  Table<CudaOnCpuStream> streams;
  Table<CudaOnCpuEvent> events;
  CudaOnCpuStream of_nodes = {true, of_host, cudaStreamNonBlocking};
  CudaOnCpuStream of_kernels = {true, of_host, cudaStreamNonBlocking};  // all that kernels make
  uint64_t recordings = 0;
  Timeline stream_0 = legacy_stream;
  Handles() {}
};
PerRun<Handles> handles;

template <class Handle>
cudaError_t made(Handle **to, Table<Handle> &table) {
  int number = 0;
  while (number < table.used && table.at[number].is_alive) number++;
  if (number == most_handles) return returns(cudaErrorMemoryAllocation);
  if (number == table.used) table.used++;
  table.at[number] = {};
  table.at[number].is_alive = true;
  *to = &table.at[number];
  return cudaSuccess;
}

bool is_own(cudaStream_t stream) { return stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread; }

cudaError_t known(bool is_known) { return is_known ? cudaSuccess : returns(cudaErrorInvalidResourceHandle); }

// The host has waited for whatever a query reports as done: here everything is done at once.
cudaError_t waited(cudaStream_t stream) {
  refuse_to_kernels("a function that waits for a stream");
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  if (is_captured(stream)) return returns(cudaErrorStreamCaptureUnsupported);
  note_host_waits();
  host_waits_for(timeline_of(stream));
  checker_host_goes_on();
  return cudaSuccess;
}

cudaError_t waited(cudaEvent_t event) {
  refuse_to_kernels("a function that waits for an event");
  if (!event || !event->is_alive) return returns(cudaErrorInvalidResourceHandle);
  note_host_waits();
  if (event->recorded) wait_for(of_host, event->done);
  checker_host_goes_on();
  return cudaSuccess;
}

cudaError_t waited_for_all() {
  refuse_to_kernels("cudaDeviceSynchronize()");
  note_host_waits();
  host_waits_for_all();
  checker_host_goes_on();
  return cudaSuccess;
}

cudaError_t made_stream(cudaStream_t *stream, unsigned int flags) {
  if (flags & ~unsigned{cudaStreamNonBlocking}) return returns(cudaErrorInvalidValue);
  if (is_asked_by_kernel()) {
    *stream = &handles.of_kernels;
    return flags & cudaStreamNonBlocking ? cudaSuccess : returns(cudaErrorInvalidValue);
  }
  do_deferred();
  cudaError_t error = made(stream, handles.streams);
  if (error != cudaSuccess) return error;
  (*stream)->timeline = make_timeline(!(flags & cudaStreamNonBlocking));
  (*stream)->flags = flags;
  return cudaSuccess;
}

// A host function on a stream: it is not part of what the host does by itself.
template <class Called>
cudaError_t called_back(cudaStream_t stream, const Called &called) {
  checker_host_goes_on();
  {
    Working callback(timeline_of(stream), Work::callback, false);
    checker_watches_callback();
    called();
    checker_has_moved();
  }
  checker_host_goes_on();
  return cudaSuccess;
}

struct HostCall {
  cudaHostFn_t called;
  void *data;
};
cudaError_t call_again(void *arguments) {
  auto &call = *static_cast<HostCall *>(arguments);
  return called_back(nullptr, [&] { call.called(call.data); });
}

cudaError_t record_again(void *event) { return cudaEventRecord(*static_cast<cudaEvent_t *>(event), nullptr); }
cudaError_t wait_again(void *event) { return cudaStreamWaitEvent(nullptr, *static_cast<cudaEvent_t *>(event), 0); }

}  // namespace

namespace cuda_on_cpu {

cudaStream_t stream_of_nodes() { return &handles.of_nodes; }

// A node does not use the stream that it was captured from, which may be gone.
bool is_stream(cudaStream_t stream) { return lane_of_graph() != of_host || !is_own(stream) || stream->is_alive; }

bool is_only_stream(cudaStream_t stream) { return timeline_of(stream) == legacy_stream && !handles.streams.used; }

Timeline timeline_of(cudaStream_t stream) {
  if (lane_of_graph() != of_host) return lane_of_graph();
  if (is_own(stream)) return stream->timeline;
  if (!stream) return handles.stream_0;
  return stream == cudaStreamPerThread ? per_thread_stream : legacy_stream;
}

Working::Working(Timeline timeline, Work what, bool host_waits, bool may_begin_early, bool is_apart) : timeline_(timeline), host_waits_(host_waits) {
  if (!is_apart) {
    do_deferred();
    note_work();
  }
  if (what != Work::kernel && what != Work::copy && what != Work::set) note_memory_change();  // these note it themselves
  if (run->check) begin_work(timeline, what, may_begin_early);
}

Working::~Working() {
  if (!run->check) return;
  end_work();
  if (host_waits_) host_waits_for(timeline_);
}

}  // namespace cuda_on_cpu

// The meaning of stream 0, and of no stream: set by nvcc's -default-stream.
CUDA_ON_CPU_API void cuda_on_cpu_stream_0(int is_per_thread) { Alone alone; handles.stream_0 = is_per_thread ? per_thread_stream : legacy_stream; }

// Only cudaGetLastError reports a launch that was refused; an error within a kernel ends the run at once.
CUDA_ON_CPU_API cudaError_t cudaDeviceSynchronize() { Alone alone; return waited_for_all(); }
CUDA_ON_CPU_API cudaError_t cudaThreadSynchronize() { Alone alone; return waited_for_all(); }

CUDA_ON_CPU_API cudaError_t cudaStreamCreate(cudaStream_t *stream) { Alone alone; return made_stream(stream, cudaStreamDefault); }
CUDA_ON_CPU_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) { Alone alone; return made_stream(stream, flags); }
CUDA_ON_CPU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int) {
  Alone alone;
  return made_stream(stream, flags);
}
CUDA_ON_CPU_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Alone alone;
  if (!is_own(stream) || !stream->is_alive) return returns(cudaErrorInvalidResourceHandle);
  if (stream == &handles.of_kernels) return cudaSuccess;
  stream->is_alive = false;
  end_timeline(stream->timeline);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags) {
  Alone alone;
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  *flags = is_own(stream) ? stream->flags : cudaStreamDefault;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
  Alone alone;
  *priority = 0;
  return known(is_stream(stream));
}
CUDA_ON_CPU_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) { Alone alone; return waited(stream); }
CUDA_ON_CPU_API cudaError_t cudaStreamQuery(cudaStream_t stream) { Alone alone; return waited(stream); }
CUDA_ON_CPU_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  Alone alone;
  refuse_to_kernels("cudaStreamWaitEvent()");
  if (!is_stream(stream) || !event || !event->is_alive) return returns(cudaErrorInvalidResourceHandle);
  if (is_captured(stream) && flags & cudaEventWaitExternal) return capture(stream, cudaGraphNodeTypeWaitEvent, wait_again, event);
  if (event->captured.capture) return capture_wait(stream, event->captured);
  if (event->recorded) wait_for(timeline_of(stream), event->done);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t called, void *data, unsigned int) {
  Alone alone;
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  if (is_captured(stream)) return returns(cudaErrorStreamCaptureUnsupported);
  return called_back(stream, [&] { called(stream, cudaSuccess, data); });
}
CUDA_ON_CPU_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t called, void *data) {
  Alone alone;
  if (!is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  if (is_captured(stream)) return capture(stream, cudaGraphNodeTypeHost, call_again, HostCall{called, data});
  return called_back(stream, [&] { called(data); });
}
CUDA_ON_CPU_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  Alone alone;
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cudaEventCreate(cudaEvent_t *event) { Alone alone; return made(event, handles.events); }
CUDA_ON_CPU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int) { Alone alone; return made(event, handles.events); }
CUDA_ON_CPU_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  Alone alone;
  if (!event || !event->is_alive) return returns(cudaErrorInvalidResourceHandle);
  event->is_alive = false;
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Alone alone;
  refuse_to_kernels("cudaEventRecord()");
  if (!event || !event->is_alive || !is_stream(stream)) return returns(cudaErrorInvalidResourceHandle);
  event->captured.capture = nullptr;
  if (is_captured(stream)) {
    capture_event(stream, event->captured);
    return cudaSuccess;
  }
  note_host_waits();
  event->recorded = ++handles.recordings;
  record(timeline_of(stream), event->done);
  return cudaSuccess;
}
CUDA_ON_CPU_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  Alone alone;
  bool is_node = event && event->is_alive && flags & cudaEventRecordExternal && is_captured(stream);
  return is_node ? capture(stream, cudaGraphNodeTypeEventRecord, record_again, event) : cudaEventRecord(event, stream);
}
CUDA_ON_CPU_API cudaError_t cudaEventQuery(cudaEvent_t event) { Alone alone; return waited(event); }
CUDA_ON_CPU_API cudaError_t cudaEventSynchronize(cudaEvent_t event) { Alone alone; return waited(event); }

// No time passes here: between two events lie as many milliseconds as there were recordings, never 0.
CUDA_ON_CPU_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  Alone alone;
  if (!start || !end || !start->recorded || !end->recorded) return returns(cudaErrorInvalidResourceHandle);
  *milliseconds = static_cast<float>(static_cast<int64_t>(end->recorded - start->recorded));
  return cudaSuccess;
}
