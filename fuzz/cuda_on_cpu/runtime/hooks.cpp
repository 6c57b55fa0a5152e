// The functions that g++ calls for every access of a kernel compiled with -fsanitize=thread,bounds,alignment: we
// implement the sanitizers' interfaces ourselves and link neither libtsan nor libubsan. A hook is called before its
// access, and may let other threads run first (yield). Plain loads and stores: plain_hooks.cpp.
#include <cstring>

#include "atomic_operations.h"
#include "block.h"
#include "checker.h"
#include "common_access.h"
#include "host_code.h"
#include "plain_hooks.h"
#include "report.h"

using namespace cuda_on_cpu;

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace {

void looked_at(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  auto address = reinterpret_cast<uintptr_t>(p);
  if (!in_host() && checker.active) return checker_access(address, bytes, kind, pc);
  if (in_host() && checker.watches_host) checker_host_access(address, bytes, kind, pc);
}

__attribute__((always_inline)) inline void access(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  if (!in_host() && turn_is_over()) take_turn(pc, __builtin_frame_address(0));
  looked_at(p, bytes, kind, pc);
}

// A vector access of 8 or 16 bytes at a smaller alignment faults on a GPU, and so does a scalar one. The hooks named
// "unaligned" are called where the source itself says to expect less alignment.
__attribute__((always_inline)) inline void aligned_access(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  if (reinterpret_cast<uintptr_t>(p) % bytes) report_misaligned(reinterpret_cast<uintptr_t>(p), bytes, pc);
  access(p, bytes, kind, pc);
}

void range(const char *p, uint64_t bytes, Access kind, uintptr_t pc) {
  constexpr uint64_t piece = 16;
  for (uint64_t i = 0; i < bytes; i += piece)
    access(p + i, static_cast<uint32_t>(bytes - i < piece ? bytes - i : piece), kind, pc);
}

}  // namespace

// Accesses that plain_hooks.cpp has found to be unusual.
extern "C" void cuda_on_cpu_long_way_of(const void *p, uint32_t what, uintptr_t pc, const void *frame) {
  uint32_t bytes = what & plain_bytes;
  if (reinterpret_cast<uintptr_t>(p) % bytes) return report_misaligned(reinterpret_cast<uintptr_t>(p), bytes, pc);
  if (what & plain_is_turn && !in_host()) take_turn(pc, frame);
  looked_at(p, bytes, what & plain_writes ? Access::write : Access::read, pc);
}
KEEPS_VECTORS(cuda_on_cpu_long_way, cuda_on_cpu_long_way_of)

#define HOOK(name, size, how, kind) \
  CUDA_ON_CPU_API void __tsan_##name##size(void *p) { how(p, size, Access::kind, CALLER); }
#define HOOKS(size)                                                        \
  HOOK(unaligned_read, size, access, read)                                 \
  HOOK(unaligned_write, size, access, write)                               \
  HOOK(volatile_read, size, aligned_access, volatile_read)                 \
  HOOK(volatile_write, size, aligned_access, volatile_write)               \
  HOOK(unaligned_volatile_read, size, access, volatile_read)               \
  HOOK(unaligned_volatile_write, size, access, volatile_write)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

CUDA_ON_CPU_API void __tsan_read_range(const char *p, uint64_t bytes) { range(p, bytes, Access::read, CALLER); }
CUDA_ON_CPU_API void __tsan_write_range(const char *p, uint64_t bytes) { range(p, bytes, Access::write, CALLER); }
// From module.cpp, for the copies in a kernel's source.
CUDA_ON_CPU_API void *cuda_on_cpu_copy(char *to, const char *from, uint64_t bytes, void *pc) {
  if (!(in_host() ? checker.watches_host : checker.active)) return memmove(to, from, bytes);
  range(from, bytes, Access::read, reinterpret_cast<uintptr_t>(pc));
  range(to, bytes, Access::write, reinterpret_cast<uintptr_t>(pc));
  return memmove(to, from, bytes);
}
CUDA_ON_CPU_API void *cuda_on_cpu_set(char *to, int value, uint64_t bytes, void *pc) {
  if (!(in_host() ? checker.watches_host : checker.active)) return memset(to, value, bytes);
  range(to, bytes, Access::write, reinterpret_cast<uintptr_t>(pc));
  return memset(to, value, bytes);
}

// clang calls these for the copies that it makes of structs.
CUDA_ON_CPU_API void *__tsan_memcpy(char *to, const char *from, uint64_t bytes) {
  return cuda_on_cpu_copy(to, from, bytes, __builtin_return_address(0));
}
CUDA_ON_CPU_API void *__tsan_memmove(char *to, const char *from, uint64_t bytes) {
  return cuda_on_cpu_copy(to, from, bytes, __builtin_return_address(0));
}
CUDA_ON_CPU_API void *__tsan_memset(char *to, int value, uint64_t bytes) {
  return cuda_on_cpu_set(to, value, bytes, __builtin_return_address(0));
}

CUDA_ON_CPU_API void __tsan_func_entry(void *) {}
CUDA_ON_CPU_API void __tsan_func_exit() {}
CUDA_ON_CPU_API void __tsan_init() {}
// The pointer to an object's virtual methods: the compiler reports its constructor's store there only by this call.
CUDA_ON_CPU_API void __tsan_vptr_update(void *p, void *) { aligned_access(p, 8, Access::write, CALLER); }
CUDA_ON_CPU_API void __tsan_vptr_read(void *p) { aligned_access(p, 8, Access::read, CALLER); }

// From atomic.h: the atomic functions themselves are not instrumented; they announce what they access.
CUDA_ON_CPU_API void cuda_on_cpu_turn() {
  if (!in_host() && turn_is_over()) take_turn(CALLER, __builtin_frame_address(0));
}

CUDA_ON_CPU_API void cuda_on_cpu_atomic(const void *p, uint32_t bytes, uint32_t what, void *pc) {
  if (in_host() || !checker.active) return;
  uintptr_t address = reinterpret_cast<uintptr_t>(p), from = reinterpret_cast<uintptr_t>(pc);
  if (address & (bytes - 1)) report_misaligned(address, bytes, from);
  if (what & atomic_swaps) checker_swaps(address, bytes);
  checker_atomic(address, bytes, what, from);
  bool is_global = memory_map.buffers.holds(address) || memory_map.variables.holds(address);
  if (what & atomic_reads && what & atomic_writes && is_global) turn_behind_update();
}

CUDA_ON_CPU_API void cuda_on_cpu_fence(int of_block) {
  if (!in_host() && checker.active) checker_fence(of_block ? Scope::block : Scope::device);
}

// The part of UBSan's interface that -fsanitize=bounds,alignment,integer-divide-by-zero needs.
struct SourceLocation {
  const char *file;
  uint32_t line, column;
};

// The line, if it is in the kernel file and not in a file that it includes.
static uint32_t line_of(const SourceLocation &location) {
  const char *name = strrchr(location.file, '/');
  return strcmp(name ? name + 1 : location.file, "kernel.cu") ? 0 : location.line;
}

struct TypeMismatch {
  SourceLocation location;
  const void *type;
  uint8_t log_alignment, access;
};

KEEPS_VECTORS(cuda_on_cpu_out_of_bounds, __ubsan_handle_out_of_bounds)
CUDA_ON_CPU_API void __ubsan_handle_out_of_bounds(SourceLocation *location, uint64_t index) {
  if (Finding *f = report(Kind::index_out_of_range, 0, line_of(*location))) f->detail = index;
}

KEEPS_VECTORS(cuda_on_cpu_type_mismatch, __ubsan_handle_type_mismatch_v1)
CUDA_ON_CPU_API void __ubsan_handle_type_mismatch_v1(TypeMismatch *mismatch, uintptr_t address) {
  uint32_t alignment = 1u << mismatch->log_alignment;
  if (address % alignment) report_misaligned_at_line(address, alignment, line_of(mismatch->location));
}

// A word or less that a lane reads by an instruction that all lanes of its warp execute together.
CUDA_ON_CPU_API uint32_t cuda_on_cpu_read_together(const void *at, uint32_t bytes) {
  if (checker.active) {
    if (turn_is_over()) take_turn(CALLER, __builtin_frame_address(0));
    checker_reads_together(reinterpret_cast<uintptr_t>(at), bytes, CALLER);
  }
  uint32_t read = 0;
  memcpy(&read, at, bytes);
  return read;
}

// For accesses that need more alignment than their own type: loads and stores of tensor cores.
CUDA_ON_CPU_API void cuda_on_cpu_must_be_aligned(const void *p, uint32_t alignment, int line) {
  auto address = reinterpret_cast<uintptr_t>(p);
  if (address % alignment) report_misaligned_at_line(address, alignment, static_cast<uint32_t>(line));
}

// This device has no multicast objects, so no address belongs to one. The thread ends: PTX leaves open what it would do.
CUDA_ON_CPU_API void cuda_on_cpu_not_multicast(const void *p, int line) {
  if (Finding *f = report(Kind::not_multicast, 0, static_cast<uint32_t>(line))) f->address = reinterpret_cast<uintptr_t>(p);
  run_is_damaged();
  end_thread();
}

KEEPS_VECTORS(cuda_on_cpu_divrem_overflow, __ubsan_handle_divrem_overflow)
CUDA_ON_CPU_API void __ubsan_handle_divrem_overflow(SourceLocation *location, uint64_t, uint64_t) {
  report(Kind::divide_error, 0, line_of(*location));
  stop_run(Status::stopped);
}
