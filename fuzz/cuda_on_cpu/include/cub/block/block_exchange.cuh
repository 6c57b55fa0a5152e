// cub::BlockExchange: converts between adjacent items per thread (blocked) and items in strides (striped).
#pragma once
#include "block_load.cuh"

namespace cub {

template <class T, int BlockDimX, int Items, bool WarpTimeSlicing = false, int BlockDimY = 1, int BlockDimZ = 1, int LegacyArch = 0>
class BlockExchange {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;

 public:
  using TempStorage = details::Tile<T, threads, threads * Items>;
  explicit BlockExchange(TempStorage &storage) : storage_(storage) {}

  template <class Out>
  void StripedToBlocked(const T (&input)[Items], Out (&output)[Items], CUDA_ON_CPU_CALLER) {
    exchange(input, output, [](int rank, int i) { return i * threads + rank; }, [](int rank, int i) { return rank * Items + i; }, line);
  }
  template <class Out>
  void BlockedToStriped(const T (&input)[Items], Out (&output)[Items], CUDA_ON_CPU_CALLER) {
    exchange(input, output, [](int rank, int i) { return rank * Items + i; }, [](int rank, int i) { return i * threads + rank; }, line);
  }
  template <class Out, class Rank>
  void ScatterToBlocked(const T (&input)[Items], Out (&output)[Items], Rank (&ranks)[Items], CUDA_ON_CPU_CALLER) {
    exchange(input, output, [&](int, int i) { return static_cast<int>(ranks[i]); }, [](int rank, int i) { return rank * Items + i; }, line);
  }

 private:
  template <class Out, class To, class From>
  void exchange(const T (&input)[Items], Out (&output)[Items], To to, From from, int line) {
    int rank = cuda_on_cpu::thread_rank();
    storage_.marks.begin();
    for (int i = 0; i < Items; i++) storage_.items()[to(rank, i)] = input[i];
    __syncthreads(line);
    for (int i = 0; i < Items; i++) output[i] = storage_.items()[from(rank, i)];
    storage_.marks.end();
  }
  TempStorage &storage_;
};

}  // namespace cub
