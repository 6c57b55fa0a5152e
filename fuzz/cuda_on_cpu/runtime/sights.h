// The sights of the runtime by number, and what C++ needs to know about them. sights.def has the entries.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

enum class Kind : uint32_t {
  none,
#define SIGHT(name, ...) name,
#include "sights.def"
#undef SIGHT
};

namespace sight {
enum Trait : uint32_t {
  plain = 0,            // a kernel's thread does it, and its line is known
  by_host = 1,          // the host does it
  left_behind = 2,      // it shows after the run, when neither thread nor line is known
  is_race = 4,          // of two accesses that nothing orders
  of_claim = 8,         // about the kernel as a whole: reported once, without lines
  is_partial = 16,      // the read is partly initialised: most likely a struct with padding
  follows_damage = 32,  // it may follow from an earlier error that ended a thread
  detail_is_freed = 64, // `detail` says whether the array was already freed
  detail_is_room = 128, // `detail` says how many bytes the array had left: none if it was already freed
};
}

constexpr bool may_follow_from_damage(Kind kind) {
  using namespace sight;
  switch (kind) {
#define SIGHT(name, kind, severity, doubt, traits, message) \
  case Kind::name: return (traits) & follows_damage;
#include "sights.def"
#undef SIGHT
    default: return false;
  }
}

}  // namespace cuda_on_cpu
