// The part of the runtime that every kernel library has its own copy of: the storage behind threadIdx and its like, and
// the list of its entries.
//
// The kernels see `extern const uint3 threadIdx`, and the scheduler rewrites the storage at every switch. For each
// thread it *is* a constant, so the compiler may keep it in a register or on the thread's own stack across a barrier,
// and the access hooks ignore it. Hidden symbols: one load, relative to the instruction.
#include <link.h>

#include "abi.h"

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

using namespace cuda_on_cpu;

HIDDEN ThreadPlace cuda_on_cpu_thread;
HIDDEN Index cuda_on_cpu_block, cuda_on_cpu_block_dim, cuda_on_cpu_grid_dim;
ThreadPlace cuda_on_cpu_thread;
Index cuda_on_cpu_block, cuda_on_cpu_block_dim, cuda_on_cpu_grid_dim;

// __shared__ is thread_local, the only storage class that C++ allows in all the places where CUDA allows __shared__.
// The ELF symbols give each array's distance from this one.
HIDDEN thread_local char cuda_on_cpu_anchor;
thread_local char cuda_on_cpu_anchor;

// Thread-local memory from the C library would lie beside what malloc returns. There is one thread, and an isolated
// place for shared memory: this function replaces the C library's own, for this library alone. (If a compiler does not
// call __tls_get_addr, the arrays are in the C library's memory after all; the anchor shows where.)
struct ThreadLocalIndex {
  unsigned long module, offset;
};

extern "C" __attribute__((visibility("default"))) char *cuda_on_cpu_static_shared;
CUDA_ON_CPU_API void *cuda_on_cpu_thread_local_of_others(void *index);
static unsigned long own_number();
HIDDEN void *__tls_get_addr(ThreadLocalIndex *index);
void *__tls_get_addr(ThreadLocalIndex *index) {
  static unsigned long known;  // 0: not yet. An initializer would need a guard from libstdc++, which kernels do without.
  unsigned long own = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (own == 0) __atomic_store_n(&known, own = own_number(), __ATOMIC_RELAXED);
  // std::call_once and std::async use thread-local variables of the C++ library.
  return index->module == own ? cuda_on_cpu_static_shared + index->offset : cuda_on_cpu_thread_local_of_others(index);
}

static char *anchor() { return &cuda_on_cpu_anchor; }

CUDA_ON_CPU_API Module cuda_on_cpu_module;
Module cuda_on_cpu_module = {&cuda_on_cpu_thread,   &cuda_on_cpu_block, &cuda_on_cpu_block_dim,
                             &cuda_on_cpu_grid_dim, anchor,             nullptr};

// The dynamic linker's number for this library's thread-local memory.
static unsigned long own_number() {
  unsigned long number = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *library, size_t, void *to) {
        for (int i = 0; i < library->dlpi_phnum; i++) {
          const auto &part = library->dlpi_phdr[i];
          bool holds = reinterpret_cast<uintptr_t>(&cuda_on_cpu_module) - library->dlpi_addr - part.p_vaddr < part.p_memsz;
          if (part.p_type == PT_LOAD && holds) *static_cast<unsigned long *>(to) = library->dlpi_tls_modid;
        }
        return 0;
      },
      &number);
  return number;
}

HIDDEN void cuda_on_cpu_register(Entry *entry);
void cuda_on_cpu_register(Entry *entry) {
  entry->next = cuda_on_cpu_module.entries;
  cuda_on_cpu_module.entries = entry;
}

// Functions that replace those of the C and C++ libraries, for this library alone.
#define INSTEAD_OF(symbol, type, name, ...)     \
  HIDDEN type name(__VA_ARGS__) __asm__(symbol); \
  type name(__VA_ARGS__)

// Checked accesses include copies, which g++ makes without calling the access hooks (options.py makes it call these
// functions wherever the source copies).
#ifdef CUDA_ON_CPU_CHECK
#define CALLER __builtin_return_address(0)
CUDA_ON_CPU_API void *cuda_on_cpu_copy(void *to, const void *from, size_t bytes, void *pc);
CUDA_ON_CPU_API void *cuda_on_cpu_set(void *to, int value, size_t bytes, void *pc);
INSTEAD_OF("memcpy", void *, checked_copy, void *to, const void *from, size_t bytes) {
  return cuda_on_cpu_copy(to, from, bytes, CALLER);
}
INSTEAD_OF("memmove", void *, checked_move, void *to, const void *from, size_t bytes) {
  return cuda_on_cpu_copy(to, from, bytes, CALLER);
}
INSTEAD_OF("memset", void *, checked_set, void *to, int value, size_t bytes) {
  return cuda_on_cpu_set(to, value, bytes, CALLER);
}
#endif

// `new` and `delete` use the device heap in kernels and the C library's in host functions.
CUDA_ON_CPU_API void *cuda_on_cpu_new(size_t bytes);
CUDA_ON_CPU_API void cuda_on_cpu_delete(void *memory, int line);
INSTEAD_OF("_Znwm", void *, device_new, size_t bytes) { return cuda_on_cpu_new(bytes); }
INSTEAD_OF("_Znam", void *, device_new_array, size_t bytes) { return cuda_on_cpu_new(bytes); }
INSTEAD_OF("_ZdlPv", void, device_delete, void *p) { cuda_on_cpu_delete(p, 0); }
INSTEAD_OF("_ZdaPv", void, device_delete_array, void *p) { cuda_on_cpu_delete(p, 0); }
INSTEAD_OF("_ZdlPvm", void, device_delete_sized, void *p, size_t) { cuda_on_cpu_delete(p, 0); }
INSTEAD_OF("_ZdaPvm", void, device_delete_array_sized, void *p, size_t) { cuda_on_cpu_delete(p, 0); }
