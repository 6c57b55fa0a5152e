#include "messages.h"
#include "state.h"

#include <cstdlib>
#include <cstring>

namespace cuda_on_cpu {

namespace {

struct Message {
  uintptr_t address;  // 0: none
  uint32_t to_block;
  Knowledge knowledge;
};

struct Messages {
  Message *table;
  uint64_t capacity, count;
  ~Messages() { free(table); }
};
PerRun<Messages> messages;

uint64_t slot(uintptr_t address, uint32_t to_block) {
  uint64_t mixed = (address + to_block * 0xC2B2AE3D27D4EB4Full) * 0x9E3779B97F4A7C15ull;
  for (uint64_t i = mixed >> 32;; i++) {
    Message &m = messages.table[i & (messages.capacity - 1)];
    if (!m.address || (m.address == address && m.to_block == to_block)) return i & (messages.capacity - 1);
  }
}

bool grow() {
  uint64_t larger = messages.capacity ? 2 * messages.capacity : 256;
  auto *made = static_cast<Message *>(calloc(larger, sizeof(Message)));
  if (!made) return false;
  Message *old = messages.table;
  uint64_t old_capacity = messages.capacity;
  messages.table = made;
  messages.capacity = larger;
  for (uint64_t i = 0; i < old_capacity; i++)
    if (old[i].address) messages.table[slot(old[i].address, old[i].to_block)] = old[i];
  free(old);
  return true;
}

}  // namespace

bool has_messages() { return messages.count; }

Knowledge message(uintptr_t address, uint32_t to_block) {
  return messages.count ? messages.table[slot(address, to_block)].knowledge : nothing;
}

bool publish(uintptr_t address, uint32_t to_block, Knowledge knowledge) {
  if (!knowledge) return true;
  if (2 * (messages.count + 1) > messages.capacity && !grow()) return false;
  Message &m = messages.table[slot(address, to_block)];
  if (!m.address) m = {address, to_block, nothing}, messages.count++;
  m.knowledge = joined(m.knowledge, knowledge);
  return true;
}

void forget_messages() {
  if (messages.count) memset(static_cast<void *>(messages.table), 0, messages.capacity * sizeof(Message));
  messages.count = 0;
}

}  // namespace cuda_on_cpu
