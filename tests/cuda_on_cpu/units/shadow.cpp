// units: shadow growing arena guard_zone block
#include "runtime/shadow.h"

#include "expect.h"

using namespace cuda_on_cpu;

int main() {
  Region region = {};
  constexpr uintptr_t start = 0x10000;
  EXPECT(map_shadow(region, start, 4096));
  EXPECT(region.holds(start) && region.holds(start + 4095) && !region.holds(start + 4096) && !region.holds(start - 1));

  mark(region, start + 6, 7, false);  // two bytes of the second word, the third, one byte of the fourth
  EXPECT(region.cell(start)->addressable() == 0);
  EXPECT(region.cell(start + 4)->addressable() == 12);
  EXPECT(region.cell(start + 8)->addressable() == 15);
  EXPECT(region.cell(start + 12)->addressable() == 1);
  EXPECT(region.cell(start + 8)->initialised() == 0);

  mark(region, start + 101, 2, true);  // within one word
  EXPECT(region.cell(start + 100)->addressable() == 6 && region.cell(start + 100)->initialised() == 6);

  set_initialised(region, start + 4, 12, true);
  EXPECT(region.cell(start + 4)->initialised() == 12 && region.cell(start + 12)->initialised() == 1);

  unmark(region, start + 4, 12);
  EXPECT(region.cell(start + 8)->addressable() == 0 && region.cell(start + 100)->addressable() == 6);

  Trace trace = {7, who_is(1000, 0x12345678), how_is(0x12345678, 5 | Trace::volatile_bit)};
  EXPECT(trace.thread() == 1000 && trace.pc() == (0x12345678 & 0x7fffffff) && trace.bytes() == 5);
  EXPECT(trace.is_volatile() && !trace.is_atomic() && !trace.is_of_block_scope());
  return failures;
}
