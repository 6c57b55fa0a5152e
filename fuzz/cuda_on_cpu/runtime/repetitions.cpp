#include "repetitions.h"

#include <sys/mman.h>

#include <cstring>

#include "arena.h"
#include "block.h"
#include "heap.h"
#include "library_image.h"
#include "sampling.h"
#include "state.h"

namespace cuda_on_cpu {

namespace {

constexpr uint64_t page = 4096, most_arguments = 1024, most_kept = uint64_t{1} << 31;
constexpr uint32_t most_known = 128;  // launches that take turns in one loop, each with several sizes of blocks
constexpr uint32_t most_tries = 2;   // of a launch that changes memory each time
constexpr uint32_t often = 8;        // a launch that has run so often may wait, also in a run that checks all blocks

struct Known {
  Step step;
  const void *kernel;
  void (*invoke)(void **);
  uint64_t bytes;
  uint64_t memory;  // the state in which it changed nothing; 0: none
  uint32_t tries, times;
  bool has_other_effects;
  unsigned char arguments[most_arguments];
};

// Launches of one kernel that may differ in their arguments.
struct Shape {
  Step step;
  const void *kernel;
  void (*invoke)(void **);
  uint32_t times;
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
  uint64_t other_effects = 0, other_effects_before = 0;
  Shape shapes[most_known];
  uint32_t shape_count = 0, next_shape = 0;
  uint32_t preempt_one_in = 0;  // the run's, while a launch runs without turns
  Known *now = nullptr;  // the launch that runs
  bool compares = false;
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

}  // namespace

bool may_ever_skip_work() { return run->may_skip_launches && run->check; }

bool may_skip_work() {
  if (!may_ever_skip_work()) return false;
  for (uint32_t i = 0; i < run->buffer_count; i++)
    if (run->buffers[i].flags & is_host_visible_memory && !(run->buffers[i].flags & is_freed)) return false;  // the host writes it
  return true;
}

namespace {

bool is_same(const Step &a, const Step &b) {
  return !memcmp(a.grid, b.grid, sizeof a.grid) && !memcmp(a.block, b.block, sizeof a.block) && !memcmp(a.cluster, b.cluster, sizeof a.cluster) &&
         a.shared == b.shared && a.cooperative == b.cooperative;
}

bool is_same_kernel(const Known &one, const Step &step, const LaunchKey &key) {
  return one.kernel == key.kernel && one.invoke == key.invoke && one.bytes == key.bytes && is_same(one.step, step);
}

Known *find_launch(const Step &step, const LaunchKey &key) {
  for (uint32_t i = 0; i < repetitions.count; i++) {
    Known &one = repetitions.known[i];
    if (is_same_kernel(one, step, key) && !memcmp(one.arguments, key.arguments, key.bytes)) return &one;
  }
  return nullptr;
}

Shape &shape_of(const Step &step, const LaunchKey &key) {
  for (uint32_t i = 0; i < repetitions.shape_count; i++)
    if (Shape &one = repetitions.shapes[i]; one.kernel == key.kernel && one.invoke == key.invoke && is_same(one.step, step)) return one;
  Shape &one = repetitions.shapes[repetitions.next_shape];
  repetitions.next_shape = (repetitions.next_shape + 1) % most_known;
  if (repetitions.shape_count < most_known) repetitions.shape_count++;
  return one = {step, key.kernel, key.invoke, 0};
}

// A thread that takes turns at every few accesses is ten times slower. What turns show, the first launches show.
void leave_out_turns(const Step &step, const LaunchKey &key) {
  repetitions.preempt_one_in = run->preempt_one_in;
  if (run->is_program && run->sampled_from && is_often_enough(shape_of(step, key).times++)) run->preempt_one_in = 0;
}

// One is an address in an array that is freed by now, the other the same place in an array that was allocated alike.
bool are_alike(const char *before, const char *now) {
  const Buffer *a = device_array_at(before), *b = device_array_at(now);
  return a && b && a != b && a->flags & (is_freed | waits_to_be_freed) && !(b->flags & (is_freed | waits_to_be_freed)) &&
         a->bytes == b->bytes && a->line == b->line && before - a->address == now - b->address;
}

bool are_arguments_alike(const Known &one, const LaunchKey &key) {
  const char *before, *now;
  uint64_t at = 0;
  for (; at + sizeof now <= key.bytes; at += sizeof now) {
    memcpy(&before, one.arguments + at, sizeof before);
    memcpy(&now, static_cast<const char *>(key.arguments) + at, sizeof now);
    if (before != now && !are_alike(before, now)) return false;
  }
  return !memcmp(one.arguments + at, static_cast<const char *>(key.arguments) + at, key.bytes - at);
}

Known *find_alike(const Step &step, const LaunchKey &key) {
  for (uint32_t i = 0; i < repetitions.count; i++)
    if (Known &one = repetitions.known[i]; is_same_kernel(one, step, key) && are_arguments_alike(one, key)) return &one;
  return nullptr;
}

// In the place of one that was alike: its arrays are freed.
Known &know_launch(const Step &step, const LaunchKey &key) {
  Known *one = find_alike(step, key);
  if (!one) {
    one = &repetitions.known[repetitions.next];
    repetitions.next = (repetitions.next + 1) % most_known;
    if (repetitions.count < most_known) repetitions.count++;
    one->step = step, one->kernel = key.kernel, one->invoke = key.invoke, one->bytes = key.bytes;
    one->times = 0, one->has_other_effects = false;
  }
  one->memory = 0, one->tries = 0;
  memcpy(one->arguments, key.arguments, key.bytes);
  return *one;
}

}  // namespace

void note_memory_change() { repetitions.memory++; }
void note_other_effect() { repetitions.other_effects++; }

static const KnownSet *find_set(const SetKey &key) {
  for (const KnownSet &one : repetitions.sets)
    if (one.memory && !memcmp(&one.key, &key, sizeof key)) return &one;
  return nullptr;
}

static KnownSet *find_alike(const SetKey &key) {
  for (KnownSet &one : repetitions.sets) {
    SetKey here = one.key;
    here.to = key.to;
    if (!one.memory || memcmp(&here, &key, sizeof key)) continue;
    if (one.key.to == key.to || are_alike(static_cast<const char *>(one.key.to), static_cast<const char *>(key.to))) return &one;
  }
  return nullptr;
}

bool was_done(const SetKey &key) { return find_alike(key); }

bool is_done_already(const SetKey &key) {
  const KnownSet *known = (has_spent_budget() || key.is_in_only_stream) && may_skip_work() ? find_set(key) : nullptr;
  return known && known->memory == repetitions.memory;
}

void note_done(const SetKey &key) {
  if (KnownSet *one = find_alike(key)) {
    *one = {key, repetitions.memory};
    return;
  }
  repetitions.sets[repetitions.next_set] = {key, repetitions.memory};
  repetitions.next_set = (repetitions.next_set + 1) % most_known;
}

bool is_often_enough(uint32_t times) { return times >= (has_spent_budget() ? 1 : often); }

bool has_run(const Step &step, const LaunchKey &key) {
  const Known *known = key.bytes <= most_arguments ? find_alike(step, key) : nullptr;
  return known && is_often_enough(known->times) && !known->has_other_effects;
}

// Where threads take turns or writes come late, equal launches may differ in what they do.
static bool may_compare(const Known &one, const LaunchKey &key) {
  if (run->late_writes || run->preempt_one_in || !is_often_enough(one.times)) return false;
  return (has_spent_budget() || key.is_in_only_stream) && may_skip_work();
}

bool begin_launch(const Step &step, const LaunchKey &key) {
  repetitions.now = nullptr;
  repetitions.compares = false;
  leave_out_turns(step, key);
  if (!may_ever_skip_work() || key.bytes > most_arguments) return true;
  Known *known = find_launch(step, key);
  bool may_skip = known && may_compare(*known, key);
  if (may_skip && known->memory == repetitions.memory) {
    run->skipped_launches++;
    run->preempt_one_in = repetitions.preempt_one_in;
    return false;
  }
  repetitions.other_effects_before = repetitions.other_effects;
  repetitions.compares = may_skip && known->tries < most_tries && prepare() && keep_memory();
  repetitions.now = known ? known : &know_launch(step, key);
  return true;
}

void end_launch() {
  run->preempt_one_in = repetitions.preempt_one_in;
  Known *one = repetitions.now;
  repetitions.now = nullptr;
  if (one) {
    bool has_other_effects = repetitions.other_effects != repetitions.other_effects_before;
    one->times++;
    one->has_other_effects |= has_other_effects;
    if (repetitions.compares && !has_other_effects && is_memory_as_kept()) {
      one->memory = repetitions.memory;
      return;
    }
    one->tries += repetitions.compares;
  }
  note_memory_change();
}

}  // namespace cuda_on_cpu
