// What g++ calls for every access of a kernel that is compiled with -fsanitize=thread,bounds,alignment: we
// implement the sanitizers' interfaces ourselves and link neither libtsan nor libubsan.
//
// Calls to these never return to another thread's stack before their access is made, except through yield().
#include "block.h"
#include "checker.h"
#include "report.h"

using namespace cuda_on_cpu;

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace {

void access(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  checker_access(reinterpret_cast<uintptr_t>(p), bytes, kind, pc);
}

// A vector access of 8 or 16 bytes at a lesser address faults on a GPU, and so does a scalar one. The hooks named
// "unaligned" are called where the source itself says that less alignment is to be expected.
void aligned_access(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  if (reinterpret_cast<uintptr_t>(p) % bytes) report_misaligned(reinterpret_cast<uintptr_t>(p), bytes, pc);
  access(p, bytes, kind, pc);
}

void range(const char *p, uint64_t bytes, Access kind, uintptr_t pc) {
  constexpr uint64_t piece = 16;
  for (uint64_t i = 0; i < bytes; i += piece)
    access(p + i, static_cast<uint32_t>(bytes - i < piece ? bytes - i : piece), kind, pc);
}

}  // namespace

#define HOOKS(size)                                                                                             \
  CUDA_ON_CPU_API void __tsan_read##size(void *p) { aligned_access(p, size, Access::read, CALLER); }            \
  CUDA_ON_CPU_API void __tsan_write##size(void *p) { aligned_access(p, size, Access::write, CALLER); }          \
  CUDA_ON_CPU_API void __tsan_unaligned_read##size(void *p) { access(p, size, Access::read, CALLER); }          \
  CUDA_ON_CPU_API void __tsan_unaligned_write##size(void *p) { access(p, size, Access::write, CALLER); }        \
  CUDA_ON_CPU_API void __tsan_volatile_read##size(void *p) { aligned_access(p, size, Access::volatile_read, CALLER); } \
  CUDA_ON_CPU_API void __tsan_volatile_write##size(void *p) { aligned_access(p, size, Access::volatile_write, CALLER); } \
  CUDA_ON_CPU_API void __tsan_unaligned_volatile_read##size(void *p) { access(p, size, Access::volatile_read, CALLER); } \
  CUDA_ON_CPU_API void __tsan_unaligned_volatile_write##size(void *p) { access(p, size, Access::volatile_write, CALLER); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

CUDA_ON_CPU_API void __tsan_read_range(const char *p, uint64_t bytes) { range(p, bytes, Access::read, CALLER); }
CUDA_ON_CPU_API void __tsan_write_range(const char *p, uint64_t bytes) { range(p, bytes, Access::write, CALLER); }
CUDA_ON_CPU_API void __tsan_func_entry(void *) {}
CUDA_ON_CPU_API void __tsan_func_exit() {}
CUDA_ON_CPU_API void __tsan_init() {}
CUDA_ON_CPU_API void __tsan_vptr_update(void *, void *) {}
CUDA_ON_CPU_API void __tsan_vptr_read(void *) {}

// From atomic.h: the atomic functions themselves are not instrumented, they announce what they touch.
CUDA_ON_CPU_API void cuda_on_cpu_atomic(const void *p, uint32_t bytes, void *pc) {
  aligned_access(p, bytes, Access::atomic, reinterpret_cast<uintptr_t>(pc));
}

CUDA_ON_CPU_API void cuda_on_cpu_fence() {
  if (run->check) checker_fence();
}

// The part of UBSan's interface that -fsanitize=bounds,alignment,integer-divide-by-zero needs.
struct SourceLocation {
  const char *file;
  uint32_t line, column;
};

struct TypeMismatch {
  SourceLocation location;
  const void *type;
  uint8_t log_alignment, access;
};

CUDA_ON_CPU_API void __ubsan_handle_out_of_bounds(SourceLocation *location, uint64_t index) {
  if (Finding *f = report(Kind::index_out_of_range, 0, location->line)) f->detail = index;
}

CUDA_ON_CPU_API void __ubsan_handle_type_mismatch_v1(TypeMismatch *mismatch, uintptr_t address) {
  uint32_t alignment = 1u << mismatch->log_alignment;
  if (address % alignment) report_misaligned_at_line(address, alignment, mismatch->location.line);
}

CUDA_ON_CPU_API void __ubsan_handle_divrem_overflow(SourceLocation *location, uint64_t, uint64_t) {
  report(Kind::divide_error, 0, location->line);
  stop_run(Status::stopped);
}
