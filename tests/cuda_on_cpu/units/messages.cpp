// units: messages knowledge
#include "runtime/messages.h"

#include "expect.h"

using namespace cuda_on_cpu;

int main() {
  EXPECT(map_knowledge());
  for (uint32_t i = 1; i <= 1000; i++) EXPECT(publish(0x1000 + 4 * i, to_everybody, with(nothing, i, i)));
  for (uint32_t i = 1; i <= 1000; i++) EXPECT(known_until(message(0x1000 + 4 * i, to_everybody), i) == i);
  EXPECT(publish(0x2000, 3, with(nothing, 5, 50)));
  EXPECT(known_until(message(0x2000, 3), 5) == 50);
  EXPECT(message(0x2000, 4) == nothing);  // another block's
  EXPECT(publish(0x2000, 3, with(nothing, 6, 60)));
  EXPECT(known_until(message(0x2000, 3), 5) == 50 && known_until(message(0x2000, 3), 6) == 60);
  // All blocks of a large grid may have read one address: each finds its message at once, not after those of the others.
  for (uint32_t i = 1; i <= 100000; i++) EXPECT(publish(0x3000, i, with(nothing, 1, i)) && known_until(message(0x3000, i), 1) == i);
  forget_messages();
  EXPECT(message(0x2000, 3) == nothing);
  return failures;
}
