#include "unwritten.h"

#include <cstring>

#include "arena.h"
#include "block.h"
#include "report.h"
#include "state.h"

namespace cuda_on_cpu {

LineTable cuda_on_cpu_lines;

namespace {

struct Range {
  uintptr_t start;
  uint64_t bytes;
  bool overlaps(uintptr_t address, uint64_t others) const { return address < start + bytes && start < address + others; }
  bool holds(uintptr_t address, uint64_t others) const { return address >= start && address + others <= start + bytes; }
};

void mark_lines(const Range &range, Line as) {
  constexpr uint64_t line = uint64_t{1} << line_shift;
  uint64_t from = range.start - usual_arena, first = (from + line - 1) >> line_shift, end = (from + range.bytes) >> line_shift;
  if (first < end) memset(cuda_on_cpu_lines.of + first, static_cast<int>(as), end - first);
}

struct Guesses {
  Range guessed[max_buffers];
  uint32_t count;
  bool is_wrong;
  Guesses() : count(0), is_wrong(false) {}
  ~Guesses() {
    for (uint32_t i = 0; i < count; i++) mark_lines(guessed[i], Line::other);
  }
};
PerRun<Guesses> guesses;

// From now on none of them counts as an unwritten input.
[[noreturn]] void begin_anew() {
  for (uint32_t i = 0; i < run->buffer_count; i++)
    if (is_guessed(run->buffers[i])) run->buffers[i].flags |= is_written;
  guesses.is_wrong = true;
  stop_run(Status::stopped);
}

// What the host does outside of kernels calls no hook, and lightly checked blocks use the lines for themselves.
bool are_all_kernels(const Run &run) {
  for (uint32_t i = 0; i < run.step_count; i++)
    if (run.steps[i].on_host) return false;
  return !run.is_program && !run.first_counted && !run.sampled_from;
}

bool may_guess(const Buffer &b) { return b.flags & has_content && !(b.flags & (is_output | is_written)); }

}  // namespace

void guess_unwritten(Run &run, bool has_turns) {
  bool may_guess_any = are_all_kernels(run) && arena_start() == usual_arena;
  for (uint32_t i = 0; i < run.buffer_count; i++) {
    Buffer &b = run.buffers[i];
    b.flags &= ~uint32_t{is_taken_as_unwritten};
    if (!may_guess_any || !may_guess(b)) continue;
    b.flags |= is_taken_as_unwritten;
    guesses.guessed[guesses.count] = {reinterpret_cast<uintptr_t>(b.address), b.bytes};
    mark_lines(guesses.guessed[guesses.count++], has_turns ? Line::unwritten_at_turns : Line::unwritten);
  }
}

bool is_guessed(const Buffer &b) { return b.flags & is_taken_as_unwritten; }

bool is_unwritten(uintptr_t address, uint64_t bytes) {
  for (uint32_t i = 0; i < guesses.count; i++)
    if (guesses.guessed[i].holds(address, bytes)) return true;
  return false;
}

void expect_no_guess(uintptr_t address, uint64_t bytes) {
  for (uint32_t i = 0; i < guesses.count; i++)
    if (guesses.guessed[i].overlaps(address, bytes)) begin_anew();
}

bool has_guessed_wrong() { return guesses.is_wrong; }

}  // namespace cuda_on_cpu
