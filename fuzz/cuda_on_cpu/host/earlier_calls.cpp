// A host function that is called repeatedly: earlier calls have other arguments, and only the last one counts. What the
// library keeps of them must not show in its answer, and their answers belong to their callers.
#include <cstring>
#include <vector>

#include "../runtime/arena.h"
#include "../runtime/block.h"
#include "../runtime/memory_map.h"
#include "../runtime/report.h"
#include "../runtime/state.h"
#include "host.h"

namespace cuda_on_cpu {

namespace {

struct EarlierAnswer {
  const char *data;
  std::vector<char> bytes;
};

struct EarlierAnswers {
  std::vector<EarlierAnswer> answers;
};
PerRun<EarlierAnswers> earlier;

// By the number of torch's type; 0 for those that no claim has.
constexpr size_t element_bytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 1, 0, 0, 0, 2};

size_t bytes_of(const Given &given) {
  const Buffer *b = device_array_at(given.data);
  if (!b || given.type >= sizeof element_bytes / sizeof *element_bytes) return 0;  // on the host, or empty
  size_t bytes = element_bytes[given.type];
  for (uint32_t i = 0; i < given.rank; i++) bytes *= static_cast<size_t>(given.sizes[i]);
  size_t room = b->bytes - static_cast<size_t>(static_cast<const char *>(given.data) - b->address);
  return bytes < room ? bytes : room;
}

bool is_of_job(const void *data) {
  const Buffer *b = device_array_at(data);
  return b && b < run->buffers + run->job_buffer_count;
}

}  // namespace

void begin_counted_call() {
  earlier.answers.clear();
  for (uint32_t i = 0; i < run->given_count; i++) {
    auto *data = static_cast<const char *>(run->given[i].data);
    size_t bytes = bytes_of(run->given[i]);
    if (bytes && !is_of_job(data)) earlier.answers.push_back({data, {data, data + bytes}});
  }
  run->given_count = 0;
  for (uint32_t i = 0; i < run->job_buffer_count; i++) {
    Buffer &b = run->buffers[i];
    if (b.flags & is_of_earlier_call) continue;
    lay(b, b.content);
    if (run->check) mark_as_laid(b);
  }
}

void check_earlier_answers() {
  for (uint32_t i = 0; i < earlier.answers.size(); i++) {
    const EarlierAnswer &one = earlier.answers[i];
    const Buffer *b = device_array_at(one.data);
    if (!b || b->flags & is_freed || !memcmp(one.data, one.bytes.data(), one.bytes.size())) continue;
    if (Finding *f = report(Kind::earlier_answer_changed, 0, b->line)) locate(reinterpret_cast<uintptr_t>(one.data), *f);
  }
}

}  // namespace cuda_on_cpu
