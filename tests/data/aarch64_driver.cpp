// Runs one kernel of a library through the cpu device's runtime, without Python: what the aarch64 test can emulate.
//
//   driver RUNTIME LIBRARY ENTRY ANCHOR CHECK [OFFSET BYTES]...
//
// The kernel takes (float *y, const float *x) with 256 elements each and a block of 256. Prints, for each of three
// schedules, the status, the number of findings, the kind of the first, and the sum and last element of y.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "runtime/abi.h"

using namespace cuda_on_cpu;

int main(int count, char **words) {
  void *runtime = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
  void *library = runtime ? dlopen(words[2], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  auto run_job = reinterpret_cast<bool (*)(Run *)>(dlsym(runtime, "cuda_on_cpu_run"));
  auto module = static_cast<Module *>(dlsym(library, "cuda_on_cpu_module"));
  const Entry *entry = module->entries;
  while (entry && std::strcmp(entry->name, words[3]) != 0) entry = entry->next;
  if (!entry) return 3;

  SharedArray arrays[8] = {};
  uint32_t array_count = 0;
  for (int i = 6; i + 1 < count; i += 2)
    arrays[array_count++] = {std::strtoull(words[i], nullptr, 0), std::strtoull(words[i + 1], nullptr, 0), 0};

  float x[256];
  for (int i = 0; i < 256; i++) x[i] = static_cast<float>(i + 1);
  Buffer buffers[2] = {{nullptr, sizeof x, 0, 4, is_output, 0, nullptr}, {x, sizeof x, 0, 4, has_content, 0, nullptr}};
  Argument args[2] = {{0, 0}, {0, 1}};  // value, buffer
  Step step = {entry, args, 2, {1, 1, 1}, {256, 1, 1}, 0};
  Finding findings[16];
  for (Schedule schedule : {cuda_on_cpu::forward, cuda_on_cpu::reverse, cuda_on_cpu::shuffled}) {
    Run run = {};
    run.module = module;
    run.buffers = buffers;
    run.steps = &step;
    run.shared_arrays = arrays;
    run.thread_local_anchor_offset = std::strtoull(words[4], nullptr, 0);
    run.buffer_count = 2;
    run.step_count = 1;
    run.shared_array_count = array_count;
    run.schedule = schedule;
    run.poison = 0x7fbadbad;
    run.seed = 7;
    run.check = words[5][0] == '1';
    run.findings = findings;
    run.finding_capacity = 16;
    if (!run_job(&run)) return 4;
    const float *y = reinterpret_cast<const float *>(buffers[0].address);
    double sum = 0.0;
    for (int i = 0; i < 256; i++) sum += static_cast<double>(y[i]);
    unsigned kind = run.finding_count ? static_cast<unsigned>(findings[0].kind) : 0;
    std::printf("%u %u %u %g %g\n", static_cast<unsigned>(run.status), run.finding_count, kind, sum, static_cast<double>(y[255]));
  }
  return 0;
}
