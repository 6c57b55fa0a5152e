// Kernels that kernels launch (dynamic parallelism). They run when the launch of their parent has ended: CUDA promises no
// earlier start, and a parent cannot wait for them since CUDA 12. A kernel has ended when its children have, so what it
// launched comes before what is after it in line; a launch into cudaStreamTailLaunch comes after its parent's others.
#include "nested_launches.h"

#include <cstdio>
#include <initializer_list>

#include "../runtime/repetitions.h"
#include "../runtime/state.h"

namespace cuda_on_cpu {

namespace {

struct Nested {
  Again launch;
  Nested *next;
};

// In order.
struct Line {
  Nested *first = nullptr, *last = nullptr;

  void add(Nested *one) {
    (last ? last->next : first) = one;
    last = one;
    one->next = nullptr;
  }
  void prepend(Line &other) {
    if (!other.first) return;
    other.last->next = first;
    if (!last) last = other.last;
    first = other.first;
    other.first = other.last = nullptr;
  }
  Nested *take() {
    Nested *one = first;
    first = one->next;
    if (!first) last = nullptr;
    return one;
  }
};

void forget(Nested *one) {
  one->launch.forget(one->launch.arguments);
  free(one);
}

struct Waiting {
  Line waiting, children, tails;  // the last two: of the kernel that runs
  bool is_running = false, has_threads = false;
  cudaStream_t stream = nullptr;
  Waiting() {}
  ~Waiting() {
    for (Line *line : {&children, &tails, &waiting})
      while (line->first) free(line->take());
  }
};
PerRun<Waiting> nested;

}  // namespace

void begin_threads(cudaStream_t stream) {
  nested.has_threads = true;
  nested.stream = stream;
}
void end_threads() { nested.has_threads = false; }
bool is_asked_by_kernel() { return nested.has_threads && !in_host(); }
cudaStream_t stream_of_threads() { return nested.stream; }

void refuse_to_kernels(const char *function, int line) {
  if (!is_asked_by_kernel()) return;
  char words[160];
  snprintf(words, sizeof words, "a kernel calls %s, which the cpu device does not have in kernels", function);
  host_refuses(words, line);
}

// A launch that launches others is never one that changes nothing.
void launch_later(const Again &launch, bool is_tail) {
  note_other_effect();
  auto *one = static_cast<Nested *>(malloc(sizeof(Nested)));
  one->launch = launch;
  (is_tail ? nested.tails : nested.children).add(one);
}

void run_nested_launches() {
  if (nested.is_running) return;
  nested.is_running = true;
  for (;;) {
    nested.waiting.prepend(nested.tails);
    nested.waiting.prepend(nested.children);
    if (!nested.waiting.first) break;
    Nested *one = nested.waiting.take();
    one->launch.does(one->launch.arguments);
    forget(one);
  }
  nested.is_running = false;
}

}  // namespace cuda_on_cpu
