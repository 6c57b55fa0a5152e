#include "deferred.h"

#include <cstdlib>
#include <cstring>
#include <optional>

#include "../runtime/arena.h"
#include "../runtime/block.h"
#include "../runtime/repetitions.h"
#include "../runtime/state.h"

namespace cuda_on_cpu {

namespace {

constexpr size_t most_deferred = 1 << 18, most_bytes = 512;
constexpr uint32_t most_known = 32;

struct Deferred {
  Waiting what;
  Again again;
};

// Work of a library that was done.
struct Known {
  Does does;
  size_t bytes;
  uint32_t times;
  unsigned char arguments[most_bytes];
};

struct Queue {
  Deferred *at = nullptr;
  size_t count = 0, room = 0;
  bool is_running = false, host_has_waited = false;
  uint32_t first_unused = 0;  // the arrays from this one on: no work has used them, done or waiting
  uint32_t first_of_waiting = 0;  // only waiting work has used these, and memsets
  uint32_t freed_count = 0, freed_old_count = 0;  // by frees that wait; of arrays before `first_of_waiting`
  uint32_t known_count = 0, next_known = 0;
  Known known[most_known];
  Queue() {}
  ~Queue() { drop(); }
  void drop() {
    for (size_t i = 0; i < count; i++) at[i].again.forget(at[i].again.arguments);
    free(at);
    at = nullptr;
    count = room = freed_count = freed_old_count = 0;
    is_running = false;
  }
};
PerRun<Queue> queue;

bool is_counted(Waiting what) { return what == Waiting::launch || what == Waiting::library; }

uint32_t number_of(const Buffer &array) { return static_cast<uint32_t>(&array - run->buffers); }

bool names_array_to_be_freed(const void *arguments, size_t bytes) {
  for (size_t at = 0; at + sizeof(void *) <= bytes; at += sizeof(void *)) {
    void *word;
    memcpy(&word, static_cast<const char *>(arguments) + at, sizeof word);
    if (const Buffer *b = device_array_at(word); b && b->flags & waits_to_be_freed) return true;
  }
  return false;
}

Known *known_equal(const void *arguments, size_t bytes, Does does) {
  for (uint32_t i = 0; i < queue.known_count; i++) {
    Known &one = queue.known[i];
    if (one.does == does && one.bytes == bytes && !memcmp(one.arguments, arguments, bytes)) return &one;
  }
  return nullptr;
}

}  // namespace

bool has_deferred() { return queue.count && !queue.is_running; }

bool may_defer(cudaStream_t stream, const void *arguments, size_t bytes) {
  return run->is_program && in_host() && !queue.is_running && !queue.freed_old_count && queue.count < most_deferred && is_only_stream(stream) &&
         !is_in_graph() && may_skip_work() && !(queue.freed_count && names_array_to_be_freed(arguments, bytes));
}

void defer(Waiting what, const Again &again) {
  if (queue.count == queue.room) {
    queue.room = queue.room ? 2 * queue.room : 64;
    queue.at = static_cast<Deferred *>(realloc(queue.at, queue.room * sizeof(Deferred)));
  }
  if (!queue.count) queue.host_has_waited = false;
  queue.at[queue.count++] = {what, again};
  queue.first_unused = run->buffer_count;
  run->skipped_launches += is_counted(what);
}

void do_deferred() {
  if (!has_deferred()) return;
  queue.is_running = true;
  std::optional<Within> runtime;  // for many at once: each change of the protection of 1 GB takes 5 ms
  for (size_t i = 0; i < queue.count; i++) {
    const Deferred &one = queue.at[i];
    run->skipped_launches -= is_counted(one.what);
    if (one.what == Waiting::free)
      runtime.reset();  // the host alone frees
    else if (!runtime)
      runtime.emplace();
    one.again.does(one.again.arguments);
  }
  runtime.reset();
  queue.drop();
  if (queue.host_has_waited && run->check) host_waits_for_all();
}

bool defer_free(Buffer &array, const Again &again) {
  if (array.flags & waits_to_be_freed) {
    do_deferred();
    return false;
  }
  array.flags |= waits_to_be_freed;
  queue.freed_count++;
  queue.freed_old_count += number_of(array) < queue.first_of_waiting;
  note_host_waits();
  defer(Waiting::free, again);
  return true;
}

Buffer *allocate_behind_free(size_t bytes, int line, Again (*again)(Buffer &array)) {
  if (!has_deferred() || queue.freed_old_count) return nullptr;
  for (uint32_t i = queue.first_of_waiting; i < run->buffer_count; i++) {
    Buffer &b = run->buffers[i];
    if (!(b.flags & waits_to_be_freed) || b.bytes != bytes || b.line != static_cast<uint32_t>(line)) continue;
    b.flags &= ~uint32_t{waits_to_be_freed};
    queue.freed_count--;
    defer(Waiting::allocation, again(b));
    return &b;
  }
  return nullptr;
}

void note_host_waits() { queue.host_has_waited = true; }

bool is_unused(const Buffer &array) { return number_of(array) >= queue.first_unused; }

void note_work() { queue.first_unused = queue.first_of_waiting = run->buffer_count; }

bool may_defer_equal(const void *arguments, size_t bytes, Does does, cudaStream_t stream) {
  if (bytes > most_bytes || !may_defer(stream, arguments, bytes)) return false;
  const Known *known = known_equal(arguments, bytes, does);
  return known && is_often_enough(known->times);
}

void note_equal(const void *arguments, size_t bytes, Does does) {
  if (bytes > most_bytes || !may_ever_skip_work()) return;
  if (Known *known = known_equal(arguments, bytes, does)) {
    known->times++;
    return;
  }
  Known &one = queue.known[queue.next_known];
  queue.next_known = (queue.next_known + 1) % most_known;
  if (queue.known_count < most_known) queue.known_count++;
  one.does = does, one.bytes = bytes, one.times = 1;
  memcpy(one.arguments, arguments, bytes);
}

}  // namespace cuda_on_cpu
