// The trails of numbers that count, and the tables that keep them (counted.h).
//
// A trail says how many additions and how many products with an exp any one term went through on its way into a value,
// and what the value was divided by. Additions are counted in three stages: those of the sum that the value is, those
// of sums that it was divided by, and those of inner sums, which were the argument of a function or a factor. Each of a
// claim's sums lies in one stage.
#pragma once
#include "vectors.h"
#include "warp.h"

namespace cuda_on_cpu {

enum TrailFlag : uint32_t {
  is_constant = 1,     // made from literals alone
  is_exponential = 2,  // an exp, or a product of exps
  is_difference = 4,   // something was added or subtracted on the way
  is_reciprocal = 8,   // 1 / divisor
  is_quotient = 16,    // a / divisor
  is_product = 32,     // a * (1 / divisor)
  is_fast = 64,        // by __fdividef
  ends_in_difference = 128,  // the last operation is a subtraction, as of a shift or a mean
  is_step = 256,             // part of a difference, as a mean adds it toward an element
};

struct Adds {
  uint32_t narrow, wide;  // wide: in double
  bool any() const { return narrow | wide; }
};

struct Trail {
  Adds sum, inner, divided;
  uint32_t rescales;
  uint32_t scalings;  // those, and the weights of inputs
  uint32_t divisor;  // the bits of the last such trail
  uint32_t flags;
};

// What a run shows beside its values.
struct Tally {
  uint32_t lost;       // values whose trail was lost
  uint32_t crowded;    // the tables are full
  uint32_t exps;       // of something that is not a literal
  uint32_t unshifted;  // those whose argument was not a difference
};

static Tally tally;

inline uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
inline Adds larger(Adds a, Adds b) { return {larger(a.narrow, b.narrow), larger(a.wide, b.wide)}; }

// Two values become one, by any operation.
inline Trail joined(const Trail &s, const Trail &t, uint32_t divisor, uint32_t flags) {
  return {larger(s.sum, t.sum), larger(s.inner, t.inner), larger(s.divided, t.divided), larger(s.rescales, t.rescales),
          larger(s.scalings, t.scalings), divisor, flags};
}

// A subtraction at the end of a value does not add a term to the sum that it is.
inline Trail without_difference(Trail t) {
  uint32_t &last = t.sum.narrow ? t.sum.narrow : t.sum.wide;
  if (last && t.flags & ends_in_difference) last--;
  return t;
}

inline Trail part_of(Trail t) {
  if (t.flags & ends_in_difference) t.flags |= is_step;
  return t;
}

// The sum that is the value becomes an inner sum.
inline Trail closed(Trail t) {
  t = without_difference(t);
  t.inner = larger(t.inner, t.sum);
  t.sum = {0, 0};
  return t;
}

// Trails by number: equal ones share one. Number 0 means a value that was loaded, 1 a constant.
constexpr uint32_t most_trails = 1u << 20, trail_slots = 2 * most_trails;
struct Slot {
  uint32_t run, trail;
};

// The trail of each number in memory, by its address.
struct Noted {
  uintptr_t address;
  uint32_t run, trail, bits;
};
constexpr uint64_t most_noted = 1u << 21;

// In place of a trail: integers made of a number whose trail they do not keep (ptx/counted_registers.h).
constexpr uint32_t lost_trail = ~0u;

// A warp collective moves 64 bits: a number goes through it as its index among the last ones that did.
struct Moved {
  double value;
  uint32_t trail;
};
constexpr uint32_t most_moved = 1u << 16, most_integers = 1u << 12;

// Trails of earlier runs no longer count; those from loading the library count in every run.
constexpr uint32_t at_load = 1;
struct Tables {
  uint32_t run, trail_count, trails_at_load, next_moved;
  uint64_t noted_count;
  Trail trails[most_trails];
  Slot slots[trail_slots];
  Noted noted[most_noted], as_integer[most_integers];
  Moved moved[most_moved];
};

// In separate memory: the library's own data is restored before every run, and these are 120 MB, mostly untouched.
struct OwnedTables {
  Tables *at = static_cast<Tables *>(calloc(1, sizeof(Tables)));
  OwnedTables() {
    at->run = at_load;
    at->trail_count = 2;
    at->trails[is_constant].flags = is_constant;
  }
  ~OwnedTables() { (free)(at); }  // not the free of a kernel
};
static OwnedTables owned_tables;
static Tables &tables = *owned_tables.at;

inline bool is_current(uint32_t run) { return run == tables.run || run == at_load; }

inline uint64_t scramble(uint64_t key) {
  key = (key ^ key >> 32) * 0x9E3779B97F4A7C15u;
  return (key ^ key >> 29) * 0xBF58476D1CE4E5B9u >> 20;
}

// Out of line: a kernel calls these everywhere, and g++ takes minutes for large ones else.
#define CUDA_ON_CPU_OUT_OF_LINE __attribute__((noinline)) inline
CUDA_ON_CPU_OUT_OF_LINE uint32_t number_of(const Trail &t) {
  bool has_adds = t.sum.any() | t.inner.any() | t.divided.any();
  if (!has_adds && !(t.scalings | t.divisor) && t.flags <= is_constant) return t.flags;
  uint64_t at = t.flags;
  uint32_t words[sizeof t / 4];
  memcpy(words, &t, sizeof t);
  for (uint32_t word : words) at = scramble(at ^ word);
  for (;; at++) {
    Slot &slot = tables.slots[at % trail_slots];
    if (!is_current(slot.run)) {
      if (tables.trail_count == most_trails) {
        tally.crowded++;
        return 0;
      }
      slot = {tables.run, tables.trail_count++};
      tables.trails[slot.trail] = t;
      return slot.trail;
    }
    if (!memcmp(&tables.trails[slot.trail], &t, sizeof t)) return slot.trail;
  }
}

CUDA_ON_CPU_OUT_OF_LINE Noted *find(const volatile void *p) {
  auto address = reinterpret_cast<uintptr_t>(p);
  for (uint64_t at = (address >> 2) + scramble(address >> 14);; at++) {  // neighbours lie side by side, pages anywhere
    Noted &one = tables.noted[at % most_noted];
    if (!is_current(one.run) || one.address == address) return &one;
  }
}

template <class T>
inline uint32_t hash_bits(T value) {
  uint64_t bits = to_bits(value);
  return static_cast<uint32_t>(bits ^ bits >> 32);
}

CUDA_ON_CPU_OUT_OF_LINE void note_bits(const volatile void *p, uint32_t bits, uint32_t trail) {
  Noted *one = find(p);
  if (!is_current(one->run) && ++tables.noted_count > most_noted / 2) {
    tally.crowded++;
    return;
  }
  *one = {reinterpret_cast<uintptr_t>(p), tables.run, trail, bits};
}
template <class T>
inline void note(const volatile void *p, T value, uint32_t trail) { note_bits(p, hash_bits(value), trail); }

// What lies on the stack of the calling thread, or near it.
inline bool is_local(const volatile void *p) {
  constexpr ptrdiff_t stack = 512 << 10;
  char here;
  ptrdiff_t away = reinterpret_cast<intptr_t>(p) - reinterpret_cast<intptr_t>(&here);
  return away < stack && away > -stack;
}

// A number without a record was loaded, if it lies in an array; a local one was put there as bits.
CUDA_ON_CPU_OUT_OF_LINE uint32_t trail_of_bits(const volatile void *p, uint32_t bits) {
  const Noted *one = find(p);
  bool is_noted = is_current(one->run);
  if (is_noted && one->trail != lost_trail && one->bits == bits) return one->trail;
  if (is_noted || is_local(p)) tally.lost++;
  return 0;
}
template <class T>
inline uint32_t trail_at(const volatile void *p, T value) { return trail_of_bits(p, hash_bits(value)); }

}  // namespace cuda_on_cpu
