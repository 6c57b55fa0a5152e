// How fast memory is copied: options by getopt, pinned and pageable memory, a stream, events around each repetition, the
// median; in vectors of four numbers, whose rest is copied one by one. With the bug the rest is a vector, too.
// arguments: --count 1003 --repeat 5 --verbose
// bug: out-of-bounds
#include <getopt.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#define CUDA_TRY(...)                                                                        \
  do {                                                                                       \
    cudaError_t const status_ = (__VA_ARGS__);                                               \
    if (status_ != cudaSuccess) {                                                            \
      std::fprintf(stderr, "%s failed: %s (%s)\n", #__VA_ARGS__, cudaGetErrorName(status_),  \
                   cudaGetErrorString(status_));                                             \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)

struct options {
  std::size_t count = 1 << 20;
  int repeat = 10;
  bool verbose = false;
};

static options parse(int argc, char **argv) {
  static const struct option names[] = {
      {"count", required_argument, nullptr, 'n'}, {"repeat", required_argument, nullptr, 'r'},
      {"verbose", no_argument, nullptr, 'v'},     {nullptr, 0, nullptr, 0}};
  options found;
  for (int letter; (letter = getopt_long(argc, argv, "n:r:v", names, nullptr)) != -1;) switch (letter) {
      case 'n': found.count = std::strtoull(optarg, nullptr, 10); break;
      case 'r': found.repeat = std::atoi(optarg); break;
      case 'v': found.verbose = true; break;
      default: std::fprintf(stderr, "usage: %s [--count N] [--repeat N] [--verbose]\n", argv[0]); std::exit(2);
    }
  return found;
}

template <typename T>
__global__ void __launch_bounds__(256) copy(T *__restrict__ dst, const T *__restrict__ src, std::size_t n) {
  static_assert(sizeof(T) == 4, "a number of four bytes");
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x, first = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
#ifdef BUG
  const std::size_t vectors = (n + 3) / 4;
#else
  const std::size_t vectors = n / 4;
#endif
  for (std::size_t i = first; i < vectors; i += stride)
    reinterpret_cast<uint4 *>(dst)[i] = __ldg(reinterpret_cast<const uint4 *>(src) + i);
  for (std::size_t i = vectors * 4 + first; i < n; i += stride) dst[i] = src[i];
}

class timer {
 public:
  explicit timer(cudaStream_t stream) : stream_(stream) {
    CUDA_TRY(cudaEventCreate(&start_));
    CUDA_TRY(cudaEventCreateWithFlags(&stop_, cudaEventBlockingSync));
  }
  ~timer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  template <typename F>
  float operator()(F &&f) {
    float ms = 0;
    CUDA_TRY(cudaEventRecord(start_, stream_));
    std::forward<F>(f)();
    CUDA_TRY(cudaEventRecord(stop_, stream_));
    CUDA_TRY(cudaEventSynchronize(stop_));
    CUDA_TRY(cudaEventElapsedTime(&ms, start_, stop_));
    return ms;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t start_{}, stop_{};
};

int main(int argc, char **argv) {
  const options asked = parse(argc, argv);
  const std::size_t bytes = asked.count * sizeof(float);
  cudaStream_t stream;
  CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float *pinned, *from, *to;
  CUDA_TRY(cudaHostAlloc(&pinned, bytes, cudaHostAllocDefault));
  CUDA_TRY(cudaMallocAsync(&from, bytes, stream));
  CUDA_TRY(cudaMallocAsync(&to, bytes, stream));
  std::vector<float> pageable(asked.count);
  std::iota(pageable.begin(), pageable.end(), 0.0f);
  std::memcpy(pinned, pageable.data(), bytes);
  const auto began = std::chrono::steady_clock::now();
  CUDA_TRY(cudaMemcpyAsync(from, pinned, bytes, cudaMemcpyHostToDevice, stream));
  std::vector<float> took;
  {
    timer time(stream);
    for (int i = 0; i < asked.repeat; i++) took.push_back(time([&] { copy<<<4, 256, 0, stream>>>(to, from, asked.count); }));
  }
  CUDA_TRY(cudaGetLastError());
  std::fill(pageable.begin(), pageable.end(), -1.0f);
  CUDA_TRY(cudaMemcpyAsync(pageable.data(), to, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_TRY(cudaStreamSynchronize(stream));
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - began;
  std::nth_element(took.begin(), took.begin() + took.size() / 2, took.end());
  const bool is_same = !std::memcmp(pinned, pageable.data(), bytes);
  if (asked.verbose) std::printf("%zu numbers, %d times: %s\n", asked.count, asked.repeat, took[took.size() / 2] > 0 ? "timed" : "not");
  std::printf("%s\n", is_same && all.count() > 0 ? "same" : "differs");
  CUDA_TRY(cudaFreeAsync(from, stream));
  CUDA_TRY(cudaFreeAsync(to, stream));
  CUDA_TRY(cudaFreeHost(pinned));
  CUDA_TRY(cudaStreamDestroy(stream));
  return is_same ? EXIT_SUCCESS : EXIT_FAILURE;
}
