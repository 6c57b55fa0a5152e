// What copies, memsets, allocations and frees have in common: the call that starts them.
#pragma once
#include "../runtime/block.h"
#include "../runtime/checker.h"
#include "../runtime/library_image.h"
#include "host.h"

namespace cuda_on_cpu {

// A call of the API: its place in the library, its stream, and whether the host waits for the work.
struct Asked {
  int line;
  uint64_t pc;  // relative
  cudaStream_t stream;
  bool waits;
};

inline Asked asked(int line, const void *back, cudaStream_t stream, bool waits) {
  return {line, reinterpret_cast<uintptr_t>(back) - library_start(*run->module), stream, waits};
}
#define ASKED(stream, waits) asked(line, __builtin_return_address(0), stream, waits)

inline void moves(const void *address, size_t bytes, Move move, const Asked &by, const Working &work) {
  if (run->check) checker_moves(reinterpret_cast<uintptr_t>(address), bytes, move, by.pc, !work.host_waits());
}

// An H200's. More than that no program can ask of it.
constexpr uint64_t memory_of_gpu = uint64_t{141} * 1000 * 1000 * 1000;

// From copies.cpp: cudaMemcpy3D. From textures.cpp: an array as plain memory, with a place in it in bytes, and whether the
// array has what is asked for; false if there is no such array.
cudaError_t copy_in_slices(const cudaMemcpy3DParms &asked_for, const Asked &by);
bool lay_out_array(cudaArray_const_t array, cudaPos &at, cudaPitchedPtr &as, size_t &element);
bool array_holds(cudaArray_const_t array, const cudaPos &at, const cudaExtent &extent);

// From memory.cpp: memory of a graph, which is not there until a node allocates it; and cudaFreeAsync.
cudaError_t reserve_for_graph(void **to, size_t bytes, int line);
cudaError_t free_on(void *memory, const Asked &by);

inline bool is_host_visible(const Buffer *b) { return b && b->flags & is_host_visible_memory; }

}  // namespace cuda_on_cpu
