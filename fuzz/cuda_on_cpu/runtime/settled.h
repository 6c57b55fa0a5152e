// Words from which another read can learn nothing more, as the generated code itself looks them up: it calls a hook
// only if it finds no entry (include/cuda_on_cpu/settled_reads.h).
//
// An entry holds the address, the lower eight bits of the clock, and the warp that it holds for: 0 for all of them, or
// a code of seven bits, three of them set, so that no warp's code is part of another's. An entry holds for the running
// warp if it differs from the address only in bits of that warp's code.
#pragma once
#include <cstdint>
#include <cstring>

#include "abi.h"

namespace cuda_on_cpu {

constexpr uint32_t settled_words = 8192, settled_warps = 32, settled_now_shift = 48, settled_code_shift = 56;

struct Settled {
  uint64_t now, not_mine;  // the clock's eight bits, above an address; all bits except the running warp's code
  uint64_t entry[settled_words];
};

extern "C" __attribute__((visibility("default"))) Settled cuda_on_cpu_settled;

struct WarpCodes {
  uint64_t of[settled_warps];
  constexpr WarpCodes() : of() {
    uint32_t made = 0;
    for (uint64_t code = 0; made < settled_warps; code++)
      if (__builtin_popcountll(code) == 3) of[made++] = code << settled_code_shift;
  }
};
constexpr WarpCodes warp_codes;

// Adjacent words have adjacent entries; shared arrays, 64 KB apart, begin at separate entries.
static inline uint64_t &settled_entry(uintptr_t address) {
  return cuda_on_cpu_settled.entry[(2 * address + (address >> 3)) / sizeof(uint64_t) % settled_words];
}

static inline void settle(uintptr_t address, uint64_t code) {
  settled_entry(address) = (address + cuda_on_cpu_settled.now) | code;
}

static inline void unsettle(uintptr_t address) { settled_entry(address) = 0; }

static inline void settled_moment(uint32_t now) { cuda_on_cpu_settled.now = uint64_t{now & 0xff} << settled_now_shift; }

static inline void forget_settled() { memset(cuda_on_cpu_settled.entry, 0, sizeof cuda_on_cpu_settled.entry); }

}  // namespace cuda_on_cpu
