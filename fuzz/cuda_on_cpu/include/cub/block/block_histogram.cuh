// cub::BlockHistogram: counts the items of a block by their values, which are numbers of bins. By atomics, whatever the algorithm.
#pragma once
#include "../operators.h"

namespace cub {

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <class T, int BlockDimX, int Items, int Bins, BlockHistogramAlgorithm Algorithm = BLOCK_HISTO_SORT, int BlockDimY = 1,
          int BlockDimZ = 1, int LegacyArch = 0>
class BlockHistogram {
  static constexpr int threads = BlockDimX * BlockDimY * BlockDimZ;

 public:
  struct TempStorage {};
  explicit BlockHistogram(TempStorage &) {}

  template <class Count>
  void InitHistogram(Count (&bins)[Bins]) {
    for (int bin = cuda_on_cpu::thread_rank(); bin < Bins; bin += threads) bins[bin] = 0;
  }
  template <class Count>
  void Composite(T (&items)[Items], Count (&bins)[Bins]) {
    for (T item : items) atomicAdd(&bins[item], Count(1));
  }
  template <class Count>
  void Histogram(T (&items)[Items], Count (&bins)[Bins], CUDA_ON_CPU_CALLER) {
    InitHistogram(bins);
    __syncthreads(line);
    Composite(items, bins);
  }
};

}  // namespace cub
