// The mutable variables of the runtime and the host layer, grouped by how long they live.
//
// Each file puts its variables into a struct and declares one PerRun or PerProcess object of it. A member of such an object has
// a fixed address, like a global variable: the access hooks read a few of them at each access of a kernel.
// tests/cuda_on_cpu/test_state.py finds variables that are neither.
#pragma once
#include <new>

namespace cuda_on_cpu {

// A part of the state of the current run. All parts form one list.
class RunPart {
 public:
  static void renew_all() {
    for (RunPart *part = all_; part; part = part->next_) part->renew_(part);
  }

 protected:
  explicit RunPart(void (*renew)(RunPart *)) : renew_(renew), next_(all_) { all_ = this; }

 private:
  void (*renew_)(RunPart *);
  RunPart *next_;
  static inline RunPart *all_ = nullptr;
};

// Equals T{} when a run begins, and is dropped when the run ends. If only the first elements of an array mean
// something, the rest need not be cleared: then T has a constructor that leaves it alone. (RunPart comes first, since a
// compiler may put what follows T into padding at its end.)
template <class T>
struct PerRun final : RunPart, T {
  PerRun() : RunPart(renew) {}
  T &operator=(const T &other) { return T::operator=(other); }

 private:
  static void renew(RunPart *part) {
    T *state = static_cast<PerRun *>(part);
    state->~T();
    new (state) T();
  }
};

// Lives as long as the process: mappings, and memory that is kept because mapping it again costs more than a kernel's
// run.
template <class T>
struct PerProcess final : T {
  PerProcess() = default;
};

// The state of one run: created when the run begins, dropped when it ends, however it ends.
class RunState {
 public:
  RunState() = default;
  ~RunState() { RunPart::renew_all(); }
  RunState(const RunState &) = delete;
};

}  // namespace cuda_on_cpu
