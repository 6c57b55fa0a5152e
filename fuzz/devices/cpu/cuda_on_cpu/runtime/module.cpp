// The part of the runtime of which every kernel library has its own copy: the storage behind threadIdx and its
// like, and the list of its entries.
//
// The kernels see `extern const uint3 threadIdx`, and the scheduler rewrites the storage at every switch. For each
// thread it *is* a constant, so the compiler may keep it in a register or on the thread's own stack across a
// barrier, and the access hooks leave it alone. Hidden symbols: one load, relative to the instruction.
#include "abi.h"

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

using namespace cuda_on_cpu;

HIDDEN ThreadPlace cuda_on_cpu_thread;
HIDDEN Index cuda_on_cpu_block, cuda_on_cpu_block_dim, cuda_on_cpu_grid_dim;
ThreadPlace cuda_on_cpu_thread;
Index cuda_on_cpu_block, cuda_on_cpu_block_dim, cuda_on_cpu_grid_dim;

// __shared__ is thread_local, the only storage class that C++ allows in all the places where CUDA allows
// __shared__. The ELF symbols tell how far each array lies from this one.
HIDDEN thread_local char cuda_on_cpu_anchor;
thread_local char cuda_on_cpu_anchor;

// Thread-local memory from the C library would lie beside what malloc gives out. There is one thread, and a place for
// shared memory where nothing else is: this stands before the C library's own, for this library alone. (Where a
// compiler does not ask __tls_get_addr, the arrays are in the C library's after all; the anchor is where they are.)
struct ThreadLocalIndex {
  unsigned long module, offset;
};

extern "C" __attribute__((visibility("default"))) char *cuda_on_cpu_static_shared;
HIDDEN void *__tls_get_addr(ThreadLocalIndex *index);
void *__tls_get_addr(ThreadLocalIndex *index) { return cuda_on_cpu_static_shared + index->offset; }

static char *anchor() { return &cuda_on_cpu_anchor; }

CUDA_ON_CPU_API Module cuda_on_cpu_module;
Module cuda_on_cpu_module = {&cuda_on_cpu_thread,   &cuda_on_cpu_block, &cuda_on_cpu_block_dim,
                             &cuda_on_cpu_grid_dim, anchor,             nullptr};

HIDDEN void cuda_on_cpu_register(Entry *entry);
void cuda_on_cpu_register(Entry *entry) {
  entry->next = cuda_on_cpu_module.entries;
  cuda_on_cpu_module.entries = entry;
}
