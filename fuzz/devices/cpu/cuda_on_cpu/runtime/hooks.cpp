// What g++ calls for every access of a kernel that is compiled with -fsanitize=thread,bounds,alignment: we
// implement the sanitizers' interfaces ourselves and link neither libtsan nor libubsan. A hook is called before its
// access is made, and may let other threads run first (yield).
#include <cstring>

#include "atomic_operations.h"
#include "block.h"
#include "checker.h"
#include "common_access.h"
#include "report.h"
#include "unwritten.h"

using namespace cuda_on_cpu;

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace {

void looked_at(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  auto address = reinterpret_cast<uintptr_t>(p);
  if (checker.active) return checker_access(address, bytes, kind, pc);
  if (checker.watches_host) checker_host_access(address, bytes, kind == Access::write || kind == Access::volatile_write, pc);
}

__attribute__((always_inline)) inline void access(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  if (turn_is_over()) take_turn(pc, __builtin_frame_address(0));
  looked_at(p, bytes, kind, pc);
}

// A vector access of 8 or 16 bytes at a lesser address faults on a GPU, and so does a scalar one. The hooks named
// "unaligned" are called where the source itself says that less alignment is to be expected.
__attribute__((always_inline)) inline void aligned_access(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  if (reinterpret_cast<uintptr_t>(p) % bytes) report_misaligned(reinterpret_cast<uintptr_t>(p), bytes, pc);
  access(p, bytes, kind, pc);
}

__attribute__((noinline)) void access_after_turn(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  take_turn(pc, __builtin_frame_address(0));
  looked_at(p, bytes, kind, pc);
}

// Of the host, too, whose every access comes here: it is through as soon as it is known to be the host's.
__attribute__((noinline)) void access_out_of_turn(const void *p, uint32_t bytes, Access kind, uintptr_t pc) {
  if (checker.active) return access_after_turn(p, bytes, kind, pc);
  checker.until_turn = 1;
  if (checker.watches_host) looked_at(p, bytes, kind, pc);
}

// A plain access of whole words. A misfit in the second word of two must still be told as an access of both. All that
// is called here is called last: then nothing has to be saved on the way that is nearly always taken.
template <uint32_t size, bool writes>
__attribute__((noinline)) void unsettled_access(const void *p, uintptr_t pc) {
  uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if (!writes && is_settled<size>(address)) return;
  if (common_access<size, writes>(address, pc)) return;
  checker_access(reinterpret_cast<uintptr_t>(p), size, writes ? Access::write : Access::read, pc);
}

template <uint32_t size, bool writes>
inline void plain_access(const void *p, uintptr_t pc) {
  uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if (__builtin_expect(address % size, 0)) return report_misaligned(address, size, pc);
  if (turn_is_over()) return access_out_of_turn(p, size, writes ? Access::write : Access::read, pc);
  checker.last_pc = pc;
  if (memory_map.buffers.holds(address)) {
    if (!writes && (!code_looks_itself || checker.has_turns) && is_in_unwritten_line(address)) return;
    if (size == 4 && own_word<writes, false>(memory_map.buffers, address, pc)) return;
  } else if (size == 4) {
    const Region &shared = memory_map.static_shared.holds(address) ? memory_map.static_shared : memory_map.dynamic_shared;
    if (shared.holds(address) && own_word<writes, true>(shared, address, pc)) return;
  }
  unsettled_access<size, writes>(p, pc);
}

template <uint32_t size, bool writes>
inline void small_access(const void *p, uintptr_t pc) {
  uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if (__builtin_expect(address % size, 0)) return report_misaligned(address, size, pc);
  if (turn_is_over()) return access_out_of_turn(p, size, writes ? Access::write : Access::read, pc);
  checker.last_pc = pc;
  if (!writes && is_in_unwritten_line(address)) return;
  if (!part_access<size, writes>(address, pc)) checker_access(address, size, writes ? Access::write : Access::read, pc);
}

void range(const char *p, uint64_t bytes, Access kind, uintptr_t pc) {
  constexpr uint64_t piece = 16;
  for (uint64_t i = 0; i < bytes; i += piece)
    access(p + i, static_cast<uint32_t>(bytes - i < piece ? bytes - i : piece), kind, pc);
}

}  // namespace

#define PLAIN(size, how)                                                                   \
  CUDA_ON_CPU_API void __tsan_read##size(void *p) { how<size, false>(p, CALLER); }         \
  CUDA_ON_CPU_API void __tsan_write##size(void *p) { how<size, true>(p, CALLER); }
#define HOOK(name, size, how, kind) \
  CUDA_ON_CPU_API void __tsan_##name##size(void *p) { how(p, size, Access::kind, CALLER); }
#define HOOKS(size)                                                        \
  HOOK(unaligned_read, size, access, read)                                 \
  HOOK(unaligned_write, size, access, write)                               \
  HOOK(volatile_read, size, aligned_access, volatile_read)                 \
  HOOK(volatile_write, size, aligned_access, volatile_write)               \
  HOOK(unaligned_volatile_read, size, access, volatile_read)               \
  HOOK(unaligned_volatile_write, size, access, volatile_write)
PLAIN(1, small_access)
PLAIN(2, small_access)
PLAIN(4, plain_access)
PLAIN(8, plain_access)
PLAIN(16, plain_access)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

CUDA_ON_CPU_API void __tsan_read_range(const char *p, uint64_t bytes) { range(p, bytes, Access::read, CALLER); }
CUDA_ON_CPU_API void __tsan_write_range(const char *p, uint64_t bytes) { range(p, bytes, Access::write, CALLER); }
// From module.cpp, for the copies that a kernel's source makes.
CUDA_ON_CPU_API void *cuda_on_cpu_copy(char *to, const char *from, uint64_t bytes, void *pc) {
  if (!checker.active && !checker.watches_host) return memmove(to, from, bytes);
  range(from, bytes, Access::read, reinterpret_cast<uintptr_t>(pc));
  range(to, bytes, Access::write, reinterpret_cast<uintptr_t>(pc));
  return memmove(to, from, bytes);
}
CUDA_ON_CPU_API void *cuda_on_cpu_set(char *to, int value, uint64_t bytes, void *pc) {
  if (!checker.active && !checker.watches_host) return memset(to, value, bytes);
  range(to, bytes, Access::write, reinterpret_cast<uintptr_t>(pc));
  return memset(to, value, bytes);
}

// clang has these called for the copies that it makes of structs.
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
// Where an object keeps its virtual methods: of its constructor's store there the compiler tells by this alone.
CUDA_ON_CPU_API void __tsan_vptr_update(void *p, void *) { plain_access<8, true>(p, CALLER); }
CUDA_ON_CPU_API void __tsan_vptr_read(void *p) { plain_access<8, false>(p, CALLER); }

// From atomic.h: the atomic functions themselves are not instrumented, they announce what they touch.
CUDA_ON_CPU_API void cuda_on_cpu_turn() {
  if (turn_is_over()) take_turn(CALLER, __builtin_frame_address(0));
}

CUDA_ON_CPU_API void cuda_on_cpu_atomic(const void *p, uint32_t bytes, uint32_t what, void *pc) {
  if (!checker.active) return;
  uintptr_t address = reinterpret_cast<uintptr_t>(p), from = reinterpret_cast<uintptr_t>(pc);
  if (address % bytes) report_misaligned(address, bytes, from);
  Strength strength = {what & atomic_of_block ? Scope::block : Scope::device, (what & atomic_reads) != 0, (what & atomic_writes) != 0,
                       (what & atomic_acquires) != 0, (what & atomic_releases) != 0};
  if (what & atomic_swaps) checker_swaps(address, bytes);
  checker_atomic(address, bytes, strength, from);
  bool is_global = memory_map.buffers.holds(address) || memory_map.variables.holds(address);
  if (strength.reads && strength.writes && is_global) turn_behind_update();
}

CUDA_ON_CPU_API void cuda_on_cpu_fence(int of_block) {
  if (checker.active) checker_fence(of_block ? Scope::block : Scope::device);
}

// The part of UBSan's interface that -fsanitize=bounds,alignment,integer-divide-by-zero needs.
struct SourceLocation {
  const char *file;
  uint32_t line, column;
};

// The line, if it is one of the kernel file and not of a file that it includes.
static uint32_t line_of(const SourceLocation &location) {
  const char *name = strrchr(location.file, '/');
  return strcmp(name ? name + 1 : location.file, "kernel.cu") ? 0 : location.line;
}

struct TypeMismatch {
  SourceLocation location;
  const void *type;
  uint8_t log_alignment, access;
};

CUDA_ON_CPU_API void __ubsan_handle_out_of_bounds(SourceLocation *location, uint64_t index) {
  if (Finding *f = report(Kind::index_out_of_range, 0, line_of(*location))) f->detail = index;
}

CUDA_ON_CPU_API void __ubsan_handle_type_mismatch_v1(TypeMismatch *mismatch, uintptr_t address) {
  uint32_t alignment = 1u << mismatch->log_alignment;
  if (address % alignment) report_misaligned_at_line(address, alignment, line_of(mismatch->location));
}

// Of those that ask for more than their own type does: loads and stores of tensor cores.
CUDA_ON_CPU_API void cuda_on_cpu_must_be_aligned(const void *p, uint32_t alignment, int line) {
  auto address = reinterpret_cast<uintptr_t>(p);
  if (address % alignment) report_misaligned_at_line(address, alignment, static_cast<uint32_t>(line));
}

CUDA_ON_CPU_API void __ubsan_handle_divrem_overflow(SourceLocation *location, uint64_t, uint64_t) {
  report(Kind::divide_error, 0, line_of(*location));
  stop_run(Status::stopped);
}
