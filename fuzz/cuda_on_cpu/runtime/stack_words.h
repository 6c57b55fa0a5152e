// Words of a thread's stack that hold registers which an operation reads or writes after its asm statement.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

struct Span {
  uintptr_t start, end;
  bool meets(uintptr_t from, uintptr_t to) const { return start < to && from < end; }
};
// As few spans as there can be. More than there is room for are not watched.
struct Spans {
  static constexpr uint32_t most = 16;
  Span all[most];
  uint32_t count;
  bool meet(uintptr_t from, uintptr_t to) const {
    for (uint32_t i = 0; i < count; i++)
      if (all[i].meets(from, to)) return true;
    return false;
  }
  void add(const void *word) {
    auto at = reinterpret_cast<uintptr_t>(word);
    for (uint32_t i = 0; i < count; i++) {
      if (all[i].end == at) return void(all[i].end += 4);
      if (all[i].start == at + 4) return void(all[i].start -= 4);
    }
    if (count < most) all[count++] = {at, at + 4};
  }
};

}  // namespace cuda_on_cpu
