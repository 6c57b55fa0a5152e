// Launches from a host function: accepted or refused as by a GPU, and recorded. Long, since immediate, captured and
// repeated launches are all refused and recorded in one way.
#include "../runtime/launch.h"

#include <cstring>

#include "../runtime/block.h"
#include "../runtime/library_image.h"
#include "../runtime/memory_map.h"
#include "../runtime/repetitions.h"
#include "../runtime/report.h"
#include "../runtime/state.h"
#include "deferred.h"
#include "host.h"
#include "nested_launches.h"

namespace cuda_on_cpu {

namespace {

constexpr uint64_t plain_dynamic_shared = 48 << 10, most_dynamic_shared = 227 << 10;
constexpr uint32_t most_threads = 1024, most_z = 64, most_grid_yz = 65535, most_grid_x = 0x7fffffff;

// What a kernel instance is allowed beyond the plain limit.
struct Allowance {
  const void *kernel;
  uint64_t dynamic_shared;
  bool large_clusters;
};
constexpr uint32_t most_allowances = 256;
struct Launches {
  Allowance allowances[most_allowances];
  uint32_t allowance_count;
  uint32_t first_unseen;  // the host has checked the errors of the launches before this one
  Launches() : allowance_count(0), first_unseen(0) {}
};
PerRun<Launches> launches;

Allowance *allowance_of(const void *kernel) {
  for (uint32_t i = 0; i < launches.allowance_count; i++)
    if (launches.allowances[i].kernel == kernel) return &launches.allowances[i];
  return nullptr;
}

uint64_t static_shared_of(const void *kernel) {
  uint64_t place = reinterpret_cast<uintptr_t>(kernel) - library_start(*run->module);
  for (uint32_t i = 0; i < run->static_shared_count; i++)
    if (run->static_shared[i].kernel == place) return run->static_shared[i].bytes;
  return 0;
}

// If a launch does not say which instance it uses, any allowance counts.
uint64_t dynamic_shared_granted(const void *kernel) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < launches.allowance_count; i++)
    if (!kernel || launches.allowances[i].kernel == kernel)
      if (launches.allowances[i].dynamic_shared > most) most = launches.allowances[i].dynamic_shared;
  return most;
}

// Without an allowance static and dynamic arrays share the plain limit; an allowance is of dynamic memory alone, also one
// of just the plain limit.
uint64_t shared_left(const void *kernel) {
  uint64_t granted = dynamic_shared_granted(kernel), of_arrays = kernel ? static_shared_of(kernel) : 0;
  if (granted < plain_dynamic_shared) return plain_dynamic_shared - of_arrays;
  return granted < most_dynamic_shared - of_arrays ? granted : most_dynamic_shared - of_arrays;
}

Refused why_refused(dim3 grid, dim3 block, size_t shared, const void *kernel) {
  uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (!grid.x || !grid.y || !grid.z) return Refused::empty_grid;
  if (grid.x > most_grid_x || grid.y > most_grid_yz || grid.z > most_grid_yz) return Refused::large_grid;
  if (!threads) return Refused::empty_block;
  if (threads > most_threads || block.x > most_threads || block.y > most_threads || block.z > most_z)
    return Refused::large_block;
  if (shared > shared_left(kernel)) return Refused::shared_memory;
  return Refused::no;
}

constexpr uint32_t portable_cluster = 8, most_in_cluster = 16;

bool fits_clusters(dim3 grid, ClusterSides cluster, const void *kernel) {
  const unsigned int *side = cluster.of;
  if (!side[0] && !side[1] && !side[2]) return true;
  if (!side[0] || !side[1] || !side[2] || grid.x % side[0] || grid.y % side[1] || grid.z % side[2]) return false;
  const Allowance *known = allowance_of(kernel);
  uint64_t blocks = uint64_t{side[0]} * side[1] * side[2];
  return blocks <= (known && known->large_clusters ? most_in_cluster : portable_cluster);
}

bool is_resident(dim3 grid, dim3 block, size_t shared, const void *kernel) {
  int each = 0;
  cuda_on_cpu_blocks_per_multiprocessor(&each, kernel, static_cast<int>(block.x * block.y * block.z), shared);
  return uint64_t{grid.x} * grid.y * grid.z <= static_cast<uint64_t>(each) * usual_multiprocessors;
}

bool is_like(const Launched &one, const Launched &other) {
  return one.line == other.line && one.graph_line == other.graph_line && !memcmp(one.grid, other.grid, sizeof one.grid) && one.refused == Refused::no && other.refused == Refused::no &&
         !memcmp(one.block, other.block, sizeof one.block) && one.shared == other.shared &&
         !memcmp(one.calls, other.calls, sizeof one.calls);
}

// A program may launch as often as it likes: launches that are alike, and were accepted, are recorded once.
Launched &written_down(const Launched &launched) {
  constexpr uint32_t looked_at = 64;
  uint32_t end = run->launched_count;
  for (uint32_t i = end; i-- > 0 && end - i <= looked_at;)
    if (is_like(run->launched[i], launched)) return run->launched[run->launched_now = i];
  if (end < run->launched_capacity) run->launched_count++;
  run->launched_now = run->launched_count - 1;
  return run->launched[run->launched_now] = launched;
}

}  // namespace

// By the frame pointers that functions of the library keep (options.py). Frames in between are not functions of the
// library: the runtime's own functions have no frames.
void note_calls(const void *frame, uint32_t (&calls)[most_calls]) {
  constexpr uintptr_t deepest = 1 << 20;
  uintptr_t start = library_start(*run->module), end = library_end(*run->module);
  auto *at = static_cast<const uintptr_t *>(frame);
  uint32_t count = 0;
  while (count < most_calls) {
    uintptr_t back = at[1];
    if (back < start || back >= end) return;
    calls[count++] = static_cast<uint32_t>(back - start);
    auto *next = reinterpret_cast<const uintptr_t *>(at[0]);
    if (next <= at || reinterpret_cast<uintptr_t>(next) - reinterpret_cast<uintptr_t>(frame) > deepest) return;
    at = next;
  }
}

void refusals_are_seen() {
  for (uint32_t i = launches.first_unseen; i < run->launched_count; i++) run->launched[i].is_seen = 1;
  launches.first_unseen = run->launched_count;
}

void report_unseen_refusals() {
  for (uint32_t i = 0; i < run->launched_count; i++) {
    Launched &one = run->launched[i];
    if (one.refused == Refused::no) continue;
    if (Finding *f = report(one.is_seen ? Kind::refusal_seen : Kind::refusal_unseen, 0, one.line)) f->launched = i;
  }
}

uint64_t dynamic_shared_allowed(const void *kernel) {
  uint64_t granted = dynamic_shared_granted(kernel);
  return granted > plain_dynamic_shared ? granted : plain_dynamic_shared;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

namespace {

struct Taken {
  Launched wanted;
  cudaStream_t stream;
  void (*invoke)(void **);
  void *context;
  ClusterSides cluster;
  unsigned int how;
  const Keeping *keeping;
  void **arguments;  // of a kernel given by its address
  const void *kernel;
};

LaunchKey key_of(const Taken &taken) { return {taken.kernel, taken.invoke, taken.context, taken.keeping->bytes, is_only_stream(taken.stream)}; }

Step step_of(const Taken &taken) {
  const Launched &launched = taken.wanted;
  Step step = {};
  step.context = taken.context;
  for (int i = 0; i < 3; i++) step.grid[i] = launched.grid[i], step.block[i] = launched.block[i], step.cluster[i] = taken.cluster.of[i];
  step.shared = static_cast<uint32_t>(launched.shared);
  step.cooperative = taken.how & launch_cooperative ? 1 : 0;
  return step;
}

void do_one_launch(const Taken &taken) {
  do_deferred();
  Launched launched = taken.wanted;
  launched.graph_line = static_cast<uint32_t>(line_of_graph());
  written_down(launched);
  Entry entry = {"", taken.invoke, "", nullptr};
  Step step = step_of(taken);
  step.entry = &entry;
  Within runtime;
  memory_map.arguments_start = reinterpret_cast<uintptr_t>(taken.context);
  memory_map.arguments_end = memory_map.arguments_start + taken.keeping->bytes;
  bool may_begin_early = is_in_graph() ? node_may_begin_early() : taken.how & launch_early;
  Working kernel_works(timeline_of(taken.stream), Work::kernel, false, may_begin_early);
  if (!begin_launch(step, key_of(taken))) return;
  begin_threads(taken.stream);
  launch(step);
  end_threads();
  end_launch();
}
void do_launch(const Taken &taken) {
  if (run->only_launches) {
    written_down(taken.wanted);
    return;
  }
  do_one_launch(taken);
  run_nested_launches();
}

cudaError_t launch_again(void *arguments) {
  do_launch(*static_cast<Taken *>(arguments));
  return cudaSuccess;
}

void forget_launch(void *arguments) {
  auto *taken = static_cast<Taken *>(arguments);
  taken->keeping->forget(taken->context);
  free(taken->arguments);
  free(taken);
}

// A launch that is equal to an earlier one waits until something can see what it does. Its arguments are kept as a GPU is
// given them: as bits.
bool is_deferred(const Taken &taken) {
  if (taken.how & launch_early || !taken.keeping->stands_alone || !may_defer(taken.stream, taken.context, taken.keeping->bytes) ||
      !has_run(step_of(taken), key_of(taken)))
    return false;
  constexpr size_t alignment = 64;
  Taken kept = taken;
  kept.context = aligned_alloc(alignment, (taken.keeping->bytes + alignment - 1) / alignment * alignment);
  memcpy(kept.context, taken.context, taken.keeping->bytes);
  void *later = malloc(sizeof kept);
  memcpy(later, static_cast<void *>(&kept), sizeof kept);
  written_down(taken.wanted);
  defer(Waiting::launch, {cudaGraphNodeTypeKernel, launch_again, later, [](void *arguments) {
                            free(static_cast<Taken *>(arguments)->context);
                            free(arguments);
                          }});
  return true;
}

// The kernel to launch: `type` if only the kernel's address gives it.
struct Callee {
  const void *kernel;
  void (*invoke)(void **);
  void *context;
  const Keeping *keeping;
  const KernelType *type;
};

Again kept_launch(Taken taken, const KernelType *type) {
  auto *kept = static_cast<Taken *>(malloc(sizeof taken));
  taken.context = taken.keeping->kept(taken.context);
  if (type) {
    taken.arguments = static_cast<void **>(malloc((type->count + 1) * sizeof(void *)));
    type->arguments(taken.context, taken.arguments);
  }
  memcpy(static_cast<void *>(kept), &taken, sizeof taken);
  return {cudaGraphNodeTypeKernel, launch_again, kept, forget_launch};
}

// By a kernel. Its arguments are copied as the host copies those of a captured launch: outside of the kernel's memory.
cudaError_t nested_launch(Taken taken, bool is_tail) {
  if (taken.how) host_refuses("a kernel launches a cooperative kernel or one that may begin early, which the cpu device does not have", static_cast<int>(taken.wanted.line));
  taken.stream = stream_of_threads();
  note_in_host(true);
  Again launch = kept_launch(taken, nullptr);
  note_in_host(false);
  launch_later(launch, is_tail);
  return cudaSuccess;
}

cudaError_t launched(const Callee &callee, const LaunchAsked &asked) {
  bool is_nested = is_asked_by_kernel(), is_tail = is_nested && asked.stream == cudaStreamTailLaunch;
  dim3 grid = asked.grid, block = asked.block;
  if (!is_tail && !(is_nested && asked.stream == cudaStreamFireAndForget) && !is_stream(asked.stream)) return returns(cudaErrorInvalidResourceHandle);
  Refused why = why_refused(grid, block, asked.shared, callee.kernel);
  if (why == Refused::no && !fits_clusters(grid, asked.cluster, callee.kernel)) why = Refused::cluster;
  if (asked.how & launch_cooperative && why == Refused::no && !is_resident(grid, block, asked.shared, callee.kernel)) why = Refused::not_resident;
  Taken taken = {{static_cast<uint32_t>(asked.line), 0, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, asked.shared, why, 0, {}},
                 asked.stream, callee.invoke, callee.context, asked.cluster, asked.how, callee.keeping, nullptr, callee.kernel};
  note_calls(asked.frame, taken.wanted.calls);
  if (why != Refused::no) {
    written_down(taken.wanted);
    if (why == Refused::cluster) return returns(cudaErrorInvalidClusterSize);
    if (why == Refused::not_resident) return returns(cudaErrorCooperativeLaunchTooLarge);
    return returns(why == Refused::shared_memory ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration);
  }
  if (is_nested) return nested_launch(taken, is_tail);
  if (is_captured(asked.stream)) return capture(taken.stream, kept_launch(taken, callee.type), taken.how & launch_early);
  if (run->only_launches || !is_deferred(taken)) do_launch(taken);
  return cudaSuccess;
}

struct Known {
  const void *kernel;
  const KernelType *type;
};
struct KnownKernels {
  Known *at;
  size_t count;
};
PerProcess<KnownKernels> known_kernels;

Known *known_at(const void *kernel) {
  for (size_t i = 0; i < known_kernels.count; i++)
    if (known_kernels.at[i].kernel == kernel) return &known_kernels.at[i];
  return nullptr;
}

}  // namespace

namespace cuda_on_cpu {

void write_down(const Launched &launched) { written_down(launched); }

cudaError_t launch_by_address(const void *kernel, void **arguments, const LaunchAsked &asked) {
  const Known *known = known_at(kernel);
  if (!kernel) return returns(cudaErrorInvalidDeviceFunction);
  if (!known) host_refuses("kfuzz: a kernel is launched by an address of unknown type: cast the kernel's own name");
  const KernelType &type = *known->type;
  if (type.count && !arguments) return returns(cudaErrorInvalidValue);
  void *bound = type.bound(kernel, arguments);
  cudaError_t error = launched({kernel, type.invoke, bound, type.keeping, &type}, asked);
  type.keeping->forget(bound);
  return error;
}

void **arguments_of(const Again &again) { return static_cast<Taken *>(again.arguments)->arguments; }

bool set_clusters(const Again &again, ClusterSides cluster) {
  auto &taken = *static_cast<Taken *>(again.arguments);
  const uint32_t *grid = taken.wanted.grid;
  if (!fits_clusters({grid[0], grid[1], grid[2]}, cluster, taken.kernel)) return false;
  taken.cluster = cluster;
  return true;
}

}  // namespace cuda_on_cpu

// A library may lie where another one lay before.
CUDA_ON_CPU_API void cuda_on_cpu_note_kernel(const void *kernel, const KernelType *type) {
  Known *known = known_at(kernel);
  if (!known) {
    known_kernels.at = static_cast<Known *>(realloc(known_kernels.at, (known_kernels.count + 1) * sizeof(Known)));
    known = &known_kernels.at[known_kernels.count++];
  }
  *known = {kernel, type};
}

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_host_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const void *kernel,
                                                    void (*invoke)(void **), void *context, const Keeping *keeping, int line,
                                                    unsigned int how, ClusterSides cluster) {
  Alone alone;
  return launched({kernel, invoke, context, keeping, nullptr},
                  {grid, block, shared, stream, line, how, cluster, __builtin_frame_address(0)});
}
CUDA_ON_CPU_API cudaError_t cuda_on_cpu_launch_by_address(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                                          cudaStream_t stream, int line, unsigned int how, ClusterSides cluster) {
  Alone alone;
  return launch_by_address(kernel, arguments, {grid, block, shared, stream, line, how, cluster, __builtin_frame_address(0)});
}

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_set_attribute(const void *kernel, cudaFuncAttribute attribute, int value) {
  Alone alone;
  bool of_shared = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize;
  if (!of_shared && attribute != cudaFuncAttributeNonPortableClusterSizeAllowed) return cudaSuccess;
  if (of_shared && (value < 0 || static_cast<uint64_t>(value) + static_shared_of(kernel) > most_dynamic_shared)) return returns(cudaErrorInvalidValue);
  Allowance *known = allowance_of(kernel);
  if (!known && launches.allowance_count == most_allowances) return returns(cudaErrorInvalidValue);
  if (!known) *(known = &launches.allowances[launches.allowance_count++]) = {kernel, 0, false};
  if (of_shared)
    known->dynamic_shared = static_cast<uint64_t>(value);
  else
    known->large_clusters = value != 0;
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_get_attributes(cudaFuncAttributes *attributes, const void *kernel) {
  Alone alone;
  *attributes = {};
  attributes->maxThreadsPerBlock = most_threads;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->sharedSizeBytes = static_shared_of(kernel);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_allowed(kernel));
  return cudaSuccess;
}

CUDA_ON_CPU_API cudaError_t cuda_on_cpu_blocks_per_multiprocessor(int *blocks, const void *kernel, int block, size_t shared) {
  Alone alone;
  constexpr int resident_threads = 2048, resident_blocks = 32;
  constexpr size_t all_shared = 228 << 10, reserved = 1 << 10;
  *blocks = 0;
  if (block < 1 || block > static_cast<int>(most_threads)) return returns(cudaErrorInvalidValue);
  if (shared > shared_left(kernel)) return cudaSuccess;
  shared += static_shared_of(kernel);
  int by_threads = resident_threads / ((block + 31) / 32 * 32);
  int by_shared = static_cast<int>(all_shared / (shared + reserved));
  *blocks = by_threads < resident_blocks ? by_threads : resident_blocks;
  if (by_shared < *blocks) *blocks = by_shared;
  return cudaSuccess;
}
