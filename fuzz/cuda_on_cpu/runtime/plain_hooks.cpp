// The hooks of plain loads and stores. On x86-64 this file uses no vector registers (plain_hooks.h); it calls other
// functions last, so that the most common path saves no registers.
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("general-regs-only")
#endif
#include "plain_hooks.h"

#include "common_access.h"
#include "host_code.h"
#include "light_checks.h"
#include "stacks.h"
#include "unwritten.h"
#include "warpgroups.h"

using namespace cuda_on_cpu;

namespace {

inline void long_way(const void *p, uint32_t what, uintptr_t pc) { cuda_on_cpu_long_way(p, what, pc, __builtin_frame_address(0)); }

inline void access_by_host(const void *p, uint32_t what, uintptr_t pc) {
  if (checker.watches_host) long_way(p, what, pc);
}

inline void access_out_of_turn(const void *p, uint32_t what, uintptr_t pc) {
  if (checker.active) return long_way(p, what, pc);
  checker.until_turn = 1;
}

inline void access_of_stack(uintptr_t address, uint32_t bytes, bool writes, uintptr_t pc) {
  if (__builtin_expect(watched_registers.are_watched, false)) long_way(reinterpret_cast<void *>(address), bytes | (writes ? plain_writes : 0), pc);
}

// A misaligned second word of two must still be reported as an access of both.
template <uint32_t size, bool writes>
__attribute__((noinline)) void unsettled_access(const void *p, uintptr_t pc) {
  uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if (is_on_first_stacks(address)) return access_of_stack(address, size, writes, pc);
  if (!writes && is_settled<size>(address)) return;
  if (!common_access<size, writes>(address, pc)) long_way(p, size | (writes ? plain_writes : 0), pc);
}

// In a block that is not in the sample. Until the next barrier another read of the word is as fine.
template <uint32_t size, bool writes>
__attribute__((noinline)) void access_lightly(const void *p, uintptr_t pc) {
  uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if (light_access<size, writes>(address)) {
    if (size == 4 && !writes && !checker.has_turns) settle(address, 0);
  } else if (!is_on_first_stacks(address)) {
    long_way(p, size | (writes ? plain_writes : 0), pc);
  }
}

// Accesses of whole words.
template <uint32_t size, bool writes>
inline void access_of_words(const void *p, uintptr_t pc) {
  uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if (in_host()) return access_by_host(p, size | (writes ? plain_writes : 0), pc);
  if (__builtin_expect(address % size, 0)) return long_way(p, size | (writes ? plain_writes : 0), pc);
  if (turn_is_over()) return access_out_of_turn(p, size | (writes ? plain_writes : 0) | plain_is_turn, pc);
  checker.last_pc = pc;
  if (checker.is_light) return access_lightly<size, writes>(p, pc);
  if (memory_map.buffers.holds(address)) {
    if (!writes && (!code_looks_itself || checker.has_turns) && is_in_unwritten_line(address)) return;
    if (size == 4 && own_word<writes, false>(memory_map.buffers, address, pc)) return;
  } else if (size == 4) {
    const Region &shared = memory_map.static_shared.holds(address) ? memory_map.static_shared : memory_map.dynamic_shared;
    if (shared.holds(address) && own_word<writes, true>(shared, address, pc)) return;
  }
  unsettled_access<size, writes>(p, pc);
}

// Accesses of part of a word.
template <uint32_t size, bool writes>
inline void access_of_a_part(const void *p, uintptr_t pc) {
  uintptr_t address = reinterpret_cast<uintptr_t>(p);
  if (in_host()) return access_by_host(p, size | (writes ? plain_writes : 0), pc);
  if (__builtin_expect(address % size, 0)) return long_way(p, size | (writes ? plain_writes : 0), pc);
  if (turn_is_over()) return access_out_of_turn(p, size | (writes ? plain_writes : 0) | plain_is_turn, pc);
  checker.last_pc = pc;
  if (checker.is_light) return access_lightly<size, writes>(p, pc);
  if (!writes && is_in_unwritten_line(address)) return;
  if (part_access<size, writes>(address, pc)) return;
  if (is_on_first_stacks(address)) return access_of_stack(address, size, writes, pc);
  long_way(p, size | (writes ? plain_writes : 0), pc);
}

}  // namespace

#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))
// Defined under the name that the compiler calls, and under the one that the header before a kernel calls.
#define HOOK(name, size, how, writes)                                                      \
  CUDA_ON_CPU_API void __tsan_##name##size(void *p) { how<size, writes>(p, CALLER); }      \
  CUDA_ON_CPU_API __attribute__((alias("__tsan_" #name #size))) void cuda_on_cpu_##name##size(void *p);
#define HOOKS(size, how)       \
  HOOK(read, size, how, false) \
  HOOK(write, size, how, true)
HOOKS(1, access_of_a_part)
HOOKS(2, access_of_a_part)
HOOKS(4, access_of_words)
HOOKS(8, access_of_words)
HOOKS(16, access_of_words)
