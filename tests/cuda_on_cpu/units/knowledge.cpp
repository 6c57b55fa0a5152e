// units: knowledge
#include "runtime/knowledge.h"

#include "expect.h"

using namespace cuda_on_cpu;

// Two maps of which each third agent is in both, and their join, all with the moments of this launch.
static bool is_joined(uint32_t moment) {
  Knowledge a = nothing, b = nothing;
  for (uint32_t agent = 0; agent < 60; agent++) {
    if (agent % 3 != 1) a = with(a, agent, moment + agent);
    if (agent % 3 != 2) b = with(b, agent, moment + 2 * agent);
  }
  Knowledge both = joined(a, b), again = joined(a, b);
  bool is_right = both == again;  // the same join is made once
  for (uint32_t agent = 0; agent < 60; agent++) {
    is_right = is_right && known_until(both, agent) == moment + (agent % 3 == 2 ? 1 : 2) * agent;
  }
  return is_right;
}

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
  EXPECT(is_joined(1000));
  forget_knowledge();
  EXPECT(is_joined(5));  // maps with the numbers of others that are forgotten
  begin_joining();
  EXPECT(is_joined(77));
  end_joining();
  return failures;
}
