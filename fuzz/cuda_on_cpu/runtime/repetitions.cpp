#include "repetitions.h"

#include <sys/mman.h>

#include <cstring>

#include "arena.h"
#include "block.h"
#include "checker.h"
#include "heap.h"
#include "library_image.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

constexpr uint64_t page = 4096, most_arguments = 1024, most_kept = uint64_t{1} << 31;
constexpr uint32_t most_known = 16;  // launches that take turns in one loop
constexpr uint32_t most_tries = 2;   // of a launch that changes memory each time

struct Known {
  Step step;
  const void *kernel;
  void (*invoke)(void **);
  uint64_t bytes;
  uint64_t memory;  // the state in which it changed nothing; 0: none
  uint32_t tries;
  unsigned char arguments[most_arguments];
};

struct KnownSet {
  SetKey key;
  uint64_t memory;
};

struct Repetitions {
  KnownSet sets[most_known] = {};
  uint32_t next_set = 0;
  Known known[most_known];
  uint32_t count = 0, next = 0;
  uint64_t memory = 1;  // how often memory may have changed
  uint64_t outputs = 0, outputs_before = 0;
  Known *now = nullptr;  // the launch that runs, if it is compared
  Repetitions() {}
};
PerRun<Repetitions> repetitions;

// The pages of all memory that a kernel can change, as they were. Only pages that exist count.
struct Kept {
  unsigned char *content;  // most_kept of addresses
  unsigned char *exists;   // of one array's pages
  uint64_t used;
};
PerProcess<Kept> kept;
constexpr uint64_t most_pages = uint64_t{1} << 22;

bool prepare() {
  if (kept.content) return true;
  auto map = [](uint64_t bytes) {
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<unsigned char *>(memory);
  };
  kept.exists = map(most_pages);
  kept.content = kept.exists ? map(most_kept) : nullptr;
  return kept.content;
}

// The existing pages in turn, from the first that the range touches to the last; false from `visit` ends it.
template <class Visit>
bool for_each_page(uintptr_t start, uint64_t bytes, const Visit &visit) {
  uintptr_t from = start & ~(page - 1), end = (start + bytes + page - 1) & ~(page - 1);
  if ((end - from) / page > most_pages || mincore(reinterpret_cast<void *>(from), end - from, kept.exists)) return false;
  for (uintptr_t at = from; at < end; at += page)
    if (kept.exists[(at - from) / page] & 1 && !visit(reinterpret_cast<unsigned char *>(at))) return false;
  return true;
}

template <class Visit>
bool for_all_memory(const Visit &visit) {
  for (uint32_t i = 0; i < run->buffer_count; i++) {
    const Buffer &b = run->buffers[i];
    if (!(b.flags & is_freed) && b.bytes && !for_each_page(reinterpret_cast<uintptr_t>(b.address), b.bytes, visit)) return false;
  }
  return for_each_page(heap_start(), heap_bytes(), visit) && for_each_page(variables_start(*run->module), variables_bytes(*run->module), visit);
}

// threadIdx and its like lie among the variables.
void clear_places() {
  const Module &module = *run->module;
  *module.thread = {};
  *module.block = *module.block_dim = *module.grid_dim = {};
}

bool keep_memory() {
  kept.used = 0;
  clear_places();
  return for_all_memory([](const unsigned char *at) {
    if (kept.used + page + sizeof at > most_kept) return false;
    memcpy(kept.content + kept.used, &at, sizeof at);
    memcpy(kept.content + kept.used + sizeof at, at, page);
    kept.used += page + sizeof at;
    return true;
  });
}

bool is_memory_as_kept() {
  clear_places();
  uint64_t seen = 0;
  bool is_same = for_all_memory([&](const unsigned char *at) {
    if (seen == kept.used || memcmp(kept.content + seen, &at, sizeof at) || memcmp(kept.content + seen + sizeof at, at, page)) return false;
    seen += page + sizeof at;
    return true;
  });
  return is_same && seen == kept.used;
}

bool may_skip() {
  if (!run->may_skip_launches || !run->check || run->late_writes || run->preempt_one_in || run->assume) return false;
  if (checker_accesses_in_full() < run->accesses_in_full) return false;
  for (uint32_t i = 0; i < run->buffer_count; i++)
    if (run->buffers[i].flags & is_host_visible_memory && !(run->buffers[i].flags & is_freed)) return false;  // the host writes it
  return true;
}

bool is_same(const Step &a, const Step &b) {
  return !memcmp(a.grid, b.grid, sizeof a.grid) && !memcmp(a.block, b.block, sizeof a.block) && !memcmp(a.cluster, b.cluster, sizeof a.cluster) &&
         a.shared == b.shared && a.cooperative == b.cooperative;
}

Known &known_launch(const Step &step, const LaunchKey &key, bool &is_new) {
  is_new = false;
  for (uint32_t i = 0; i < repetitions.count; i++) {
    Known &one = repetitions.known[i];
    if (one.kernel == key.kernel && one.invoke == key.invoke && one.bytes == key.bytes && is_same(one.step, step) &&
        !memcmp(one.arguments, key.arguments, key.bytes))
      return one;
  }
  is_new = true;
  Known &one = repetitions.known[repetitions.next];
  repetitions.next = (repetitions.next + 1) % most_known;
  if (repetitions.count < most_known) repetitions.count++;
  one.step = step, one.kernel = key.kernel, one.invoke = key.invoke, one.bytes = key.bytes;
  one.memory = 0, one.tries = 0;
  memcpy(one.arguments, key.arguments, key.bytes);
  return one;
}

}  // namespace

void note_memory_change() { repetitions.memory++; }
void note_output() { repetitions.outputs++; }

bool is_done_already(const SetKey &key) {
  if (!may_skip()) return false;
  for (const KnownSet &one : repetitions.sets)
    if (one.memory == repetitions.memory && !memcmp(&one.key, &key, sizeof key)) return true;
  return false;
}

void note_done(const SetKey &key) {
  repetitions.sets[repetitions.next_set] = {key, repetitions.memory};
  repetitions.next_set = (repetitions.next_set + 1) % most_known;
}

bool begin_launch(const Step &step, const LaunchKey &key) {
  repetitions.now = nullptr;
  if (!may_skip() || key.bytes > most_arguments) return true;
  bool is_new;
  Known &one = known_launch(step, key, is_new);
  if (one.memory == repetitions.memory) {
    run->skipped_launches++;
    return false;
  }
  if (is_new || one.tries == most_tries || !prepare()) return true;
  repetitions.outputs_before = repetitions.outputs;
  if (keep_memory()) repetitions.now = &one;
  return true;
}

void end_launch() {
  Known *one = repetitions.now;
  repetitions.now = nullptr;
  if (one && repetitions.outputs == repetitions.outputs_before && is_memory_as_kept()) {
    one->memory = repetitions.memory;
    return;
  }
  if (one) one->tries++;
  note_memory_change();
}

}  // namespace cuda_on_cpu
