// Host functions under the cpu device: what they may touch, what they have launched, and how they end.
//
// While a host function runs, device memory is out of its reach, as on a machine with a GPU: a page fault says where it
// was touched. The functions of the CUDA runtime API, and kernels, are given it for as long as they need it.
#pragma once
#include <cstdlib>
#include <cstring>

#include "../runtime/abi.h"
#include "../runtime/host_code.h"
#include "../runtime/work.h"
#include "include/cuda_on_cpu_host/graphs.h"

namespace cuda_on_cpu {

// A step that is a host function: called once.
void call_host(const Step &step);
// After a run, however it ended.
void leave_host();

// The host's own code begins, or goes on; or what it has asked for does, which is looked at.
void enter_host(bool enter);
// Whether the host may touch device memory for now: a copy of the API's own, or an operation of torch's.
void host_reaches(bool reaches_now);
// Within a scope: device memory is there for the runtime itself.
class Within {
 public:
  Within();
  ~Within();
  Within(const Within &) = delete;

 private:
  bool was_in_host_;
};

// Every function of the API that can fail ends by this: the error stays until somebody asks for it.
cudaError_t returns(cudaError_t error);

// The buffer that an address lies in; null where it is none of the device's.
bool is_device_memory(const void *address);

// The call path of the caller, from the nearest function of the library outwards, relative to the library.
void note_calls(const void *frame, uint32_t (&calls)[most_calls]);

// From earlier_calls.cpp: what came before is an earlier call's, and the arrays of the job are as at first; and, in the
// end, whether what those calls returned is still what it was.
void begin_counted_call();
void check_earlier_answers();

// From order.cpp. Whatever a stream does is done between two of these; the caller waits for it if that is asked for.
bool is_stream(cudaStream_t stream);
bool is_only_stream(cudaStream_t stream);  // the legacy one, and the program has made no other
Timeline timeline_of(cudaStream_t stream);
class Working {
 public:
  // `is_apart`: nothing that waits (deferred.h) can access what the work does; otherwise all of that is done before.
  Working(Timeline timeline, Work what, bool host_waits, bool may_begin_early = false, bool is_apart = false);
  ~Working();
  Working(const Working &) = delete;
  bool host_waits() const { return host_waits_; }

 private:
  Timeline timeline_;
  bool host_waits_;
};

// From captures.cpp. What is asked of a stream that is captured is written down, to be done again and again.
struct Again {
  cudaGraphNodeType type;
  cudaError_t (*does)(void *arguments);
  void *arguments;
  void (*forget)(void *arguments);
};
bool is_captured(cudaStream_t stream);
// `may_begin_early`: a kernel that the kernel before it, if there is one, lets begin early.
cudaError_t capture(cudaStream_t stream, const Again &again, bool may_begin_early = false);
template <class Arguments>
cudaError_t capture(cudaStream_t stream, cudaGraphNodeType type, cudaError_t (*does)(void *), const Arguments &arguments) {
  void *kept = malloc(sizeof arguments);
  memcpy(kept, &arguments, sizeof arguments);
  return capture(stream, Again{type, does, kept, free});
}
// What an event that is recorded in a capture stands for.
struct CapturedEvent {
  void *capture, **last;
  size_t count;
};
void capture_event(cudaStream_t stream, CapturedEvent &event);
cudaError_t capture_wait(cudaStream_t stream, const CapturedEvent &event);
bool is_in_graph();             // from graphs.cpp: a node is being done
int line_of_graph();            // the line that launched its graph; 0 if none is
bool node_may_begin_early();    // it is a kernel that some edge lets begin early
Timeline lane_of_graph();  // from graphs.cpp: of the node that is being done; the host's, which is none, where none is

// From memory.cpp, for tensors.
void free_at_once(void *memory);
// From copies.cpp, for the nodes of graphs.
cudaError_t copy_on(cudaStream_t stream, const cudaMemcpy3DParms &asked, int line, const void *back);
cudaError_t set_on(cudaStream_t stream, const cudaMemsetParams &asked, int line, const void *back);

// From operations.cpp.
void forget_operations();
bool is_in_operation();

// From launches.cpp. What a launch is given besides its kernel; `frame` is that of the function that asked for it.
struct LaunchAsked {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
  int line;
  unsigned int how;
  ClusterSides cluster;
  const void *frame;
};
cudaError_t launch_by_address(const void *kernel, void **arguments, const LaunchAsked &asked);
void **arguments_of(const Again &launch);  // where they are kept; null of a launch by <<<>>>
void write_down(const Launched &launched);  // becomes the one that is under way
bool set_clusters(const Again &launch, ClusterSides cluster);
void report_unseen_refusals();
void refusals_are_seen();
uint64_t dynamic_shared_allowed(const void *kernel);

}  // namespace cuda_on_cpu
