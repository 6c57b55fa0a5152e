// What a thread knows of the others: for each one, the moment before which its accesses happened before the thread's
// next one.
//
// A map from agents (a thread, a warp, a whole block) to moments. Maps never change; they are joined into new ones that
// share their common parts, so that a thread passes its knowledge on by passing one number. A launch forgets all.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

using Knowledge = uint32_t;
constexpr Knowledge nothing = 0;

Knowledge joined(Knowledge a, Knowledge b);
Knowledge with(Knowledge knowledge, uint32_t agent, uint32_t until);
uint32_t known_until(Knowledge knowledge, uint32_t agent);  // 0: nothing is known of the agent
// With what is known of each agent from `first` to `last` known of the agent with these higher bits, too.
Knowledge with_copies(Knowledge knowledge, uint32_t first, uint32_t last, uint32_t bits);

// Between the two, a join may change younger maps in place: for many joins in a row.
void begin_joining();
void end_joining();

// False when there is no more room.
bool has_room_for_knowledge();
bool map_knowledge();
void forget_knowledge();

}  // namespace cuda_on_cpu
