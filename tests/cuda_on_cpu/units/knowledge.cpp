// units: knowledge
#include "runtime/knowledge.h"

#include "expect.h"

using namespace cuda_on_cpu;

int main() {
  EXPECT(map_knowledge());
  Knowledge a = nothing, b = nothing;
  for (uint32_t agent = 1; agent < 100; agent += 2) a = with(a, agent, 10 * agent);
  for (uint32_t agent = 0; agent < 100; agent += 3) b = with(b, agent, (agent % 9 ? 7 : 13) * agent + 1);
  Knowledge both = joined(a, b);
  for (uint32_t agent = 0; agent < 100; agent++) {
    uint32_t in_a = agent % 2 ? 10 * agent : 0, in_b = agent % 3 ? 0 : (agent % 9 ? 7 : 13) * agent + 1;
    EXPECT(known_until(a, agent) == in_a);
    EXPECT(known_until(both, agent) == (in_a > in_b ? in_a : in_b));  // the later of the two
  }
  EXPECT(known_until(both, 12345) == 0);
  EXPECT(joined(both, a) == both && joined(nothing, a) == a);
  EXPECT(with(a, 1, 5) == a);  // it is known already
  return failures;
}
