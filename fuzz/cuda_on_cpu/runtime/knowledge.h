// What a thread knows of the others: up to which moment each one's accesses happened before what it does now.
//
// A map from agents (a thread, a warp, a whole block) to moments. Maps are never changed, only joined into new ones that
// share what they have in common, so that a thread hands its knowledge on by handing on one number. A launch forgets all.
#pragma once
#include <cstdint>

namespace cuda_on_cpu {

using Knowledge = uint32_t;
constexpr Knowledge nothing = 0;

Knowledge joined(Knowledge a, Knowledge b);
Knowledge with(Knowledge knowledge, uint32_t agent, uint32_t until);
uint32_t known_until(Knowledge knowledge, uint32_t agent);  // 0: nothing is known of it

// Between the two, what is joined may be changed in place as long as it is younger: for joins of many in a row.
void begin_joining();
void end_joining();

// False when there is no room left for more.
bool has_room_for_knowledge();
bool map_knowledge();
void forget_knowledge();

}  // namespace cuda_on_cpu
