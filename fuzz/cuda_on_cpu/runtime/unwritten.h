// Arrays that nothing writes in a run: every read finds the initial content, in whatever order threads run. So reads of
// them are not remembered, only checked to lie in the array.
//
// Which arrays these are is a guess: the inputs. If the kernel writes one of them after all, the earlier reads that the
// write may race with are missing: then the run starts again, with cells for all arrays.
#pragma once
#include "abi.h"

namespace cuda_on_cpu {

// For every line of 64 bytes of the arena. The generated code looks here first (include/cuda_on_cpu/settled_reads.h).
enum class Line : uint8_t {
  other,
  contested,           // for a lightly checked block (light_checks.h): every access is checked
  unwritten_at_turns,  // where another thread may run at any access: the hook must be called
  unwritten,           // a read needs no hook
  uncontested,         // for a lightly checked block: neither does a write
};
constexpr uint32_t line_shift = 6, arena_shift = 30, arena_of_program_shift = 34;  // of the first part, and of a program's with both
constexpr uint64_t lines_of_arena = uint64_t{1} << (arena_of_program_shift - line_shift);
constexpr uint64_t usual_arena = 0x500000000000;

// Whether the generated code does so if threads take no turns.
#if defined(__x86_64__) && !defined(__clang__)
constexpr bool code_looks_itself = true;
#else
constexpr bool code_looks_itself = false;
#endif

// The first line's number in all of memory, and how many there are: 0 where the arena lies elsewhere.
struct LineTable {
  uint64_t first, count;
  Line of[lines_of_arena];
};
extern "C" __attribute__((visibility("default"))) LineTable cuda_on_cpu_lines;

static inline bool is_in_unwritten_line(uintptr_t address) {
  uint64_t offset = address - usual_arena;
  return offset >> arena_shift == 0 && cuda_on_cpu_lines.of[offset >> line_shift] >= Line::unwritten_at_turns;
}

// Before a checked run, once its arrays have their places.
void guess_unwritten(Run &run, bool has_turns);
bool is_guessed(const Buffer &buffer);

// Whether all of a range lies in one array that nothing writes.
bool is_unwritten(uintptr_t address, uint64_t bytes);
// Before a write. Does not return if the guess was wrong.
void expect_no_guess(uintptr_t address, uint64_t bytes);
// After a run: whether it must be repeated, without the wrong guess.
bool has_guessed_wrong();

}  // namespace cuda_on_cpu
