// The cases of a program, named on its command line; after the word `wrong` a case runs with its bug. What their hosts share.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call) if (cudaError_t error = (call); error != cudaSuccess) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(error)); exit(1); }

template <typename Case, int count, typename Run>
void run_named(int argc, char **argv, const Case (&cases)[count], Run run) {
  bool wrong = false;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "wrong")) {
      wrong = true;
      continue;
    }
    for (const Case &one : cases)
      if (!strcmp(argv[i], one.name)) run(one, wrong);
    wrong = false;
  }
}

inline void report(const char *name, bool wrong, bool right) {
  if (!wrong || right) printf("%s%s\n", name, right ? "" : ": wrong answer");
}

struct Judged {
  const char *name;
  bool (*has_right_answer)(bool wrong);
};

inline void run_judged(const Judged &one, bool wrong) {
  report(one.name, wrong, one.has_right_answer(wrong));
}

// An array on the device, which is freed with this.
template <typename T>
struct OnDevice {
  T *there;
  size_t count;
  explicit OnDevice(const std::vector<T> &from) : count(from.size()) {
    CHECK(cudaMalloc(&there, count * sizeof(T)));
    CHECK(cudaMemcpy(there, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  OnDevice(const OnDevice &) = delete;
  ~OnDevice() { CHECK(cudaFree(there)); }
  std::vector<T> fetch() const {
    std::vector<T> got(count);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got.data(), there, count * sizeof(T), cudaMemcpyDeviceToHost));
    return got;
  }
};

template <typename Kernel, typename... Given>
void launch_clusters(int blocks, int threads, int of, Kernel kernel, Given... given) {
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = of, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks, config.blockDim = threads, config.attrs = &cluster, config.numAttrs = of > 0;
  CHECK(cudaLaunchKernelEx(&config, kernel, given...));
}

// Whether what is launched doubles the numbers of an array into another.
template <typename Launch>
bool doubles(int n, Launch launch) {
  std::vector<int> x(n);
  for (int i = 0; i < n; i++) x[i] = 3 * i + 1;
  OnDevice<int> in(x), out{std::vector<int>(n)};
  launch(out.there, in.there);
  for (int &one : x) one *= 2;
  return out.fetch() == x;
}

inline decltype(&cuTensorMapEncodeTiled) find_encode() {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result));
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
}
