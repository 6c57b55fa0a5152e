// Sorts, sums and scans by cub: blocks first, then whole arrays; the host knows the answers.
// arguments: 3000
// bug: race
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

constexpr int threads = 64, items = 4, tile = threads * items;

// Each block sorts a tile, scans it, and adds its sum to a total.
__global__ void by_blocks(const int *in, int *sorted, int *scanned, int *total, int n) {
  using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, threads, items>;
  using Scan = cub::BlockScan<int, threads>;
  using WarpScan = cub::WarpScan<int>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
  } shared;
  __shared__ typename WarpScan::TempStorage warp[threads / 32];
  int first = blockIdx.x * tile, valid = min(tile, n - first), own[items], sums[items], all;
  Load(shared.load).Load(in + first, own, valid, 1 << 30);
  __syncthreads();
  Sort(shared.sort).Sort(own);
#ifndef BUG
  __syncthreads();
#endif
  Store(shared.store).Store(sorted + first, own, valid);
  __syncthreads();
  for (int i = 0; i < items; i++) own[i] = threadIdx.x * items + i < valid ? own[i] : 0;
  Scan(shared.scan).ExclusiveSum(own, sums, all);
  __syncthreads();
  Store(shared.store).Store(scanned + first, sums, valid);
  int before, in_warp;
  WarpScan(warp[threadIdx.x / 32]).ExclusiveSum(1, before, in_warp);
  if (threadIdx.x == 0) atomicAdd(total, all);
  if (before != static_cast<int>(threadIdx.x) % 32 || in_warp != 32) atomicAdd(total, 1);
}

__global__ void counts(const int *in, int *bins) {
  using Histogram = cub::BlockHistogram<unsigned char, threads, 2, 8>;
  __shared__ typename Histogram::TempStorage room;
  __shared__ int own[8];
  unsigned char some[2] = {static_cast<unsigned char>(in[2 * threadIdx.x] & 7), 3};
  Histogram(room).Histogram(some, own);
  __syncthreads();
  if (threadIdx.x < 8) bins[threadIdx.x] = own[threadIdx.x];
}

struct Later {
  __device__ bool operator()(int a, int b) const { return a > b; }
};
struct IsEven {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

#define CHECK(condition)                                        \
  if (!(condition)) {                                           \
    printf("line %d: " #condition " does not hold\n", __LINE__); \
    return 1;                                                   \
  }

int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  std::vector<int> in(n), got(n), want(n);
  for (int i = 0; i < n; i++) in[i] = (i * 7919 + argc) % 1009 - 300;
  int *d_in, *d_out, *d_keys, *d_values, *d_total;
  cudaMalloc(&d_in, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMalloc(&d_keys, n * sizeof(int));
  cudaMalloc(&d_values, n * sizeof(int));
  cudaMalloc(&d_total, sizeof(int));
  cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_total, 0, sizeof(int));
  by_blocks<<<(n + tile - 1) / tile, threads>>>(d_in, d_keys, d_out, d_total, n);
  int total, sum = std::accumulate(in.begin(), in.end(), 0);
  cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(total == sum);
  cudaMemcpy(got.data(), d_keys, n * sizeof(int), cudaMemcpyDeviceToHost);
  want = in;
  for (int first = 0; first < n; first += tile) std::sort(want.begin() + first, want.begin() + std::min(n, first + tile));
  CHECK(got == want);

  void *temporary = nullptr;
  size_t bytes = 0, most = 0;
  cub::DeviceRadixSort::SortPairsDescending(nullptr, most, d_in, d_keys, d_in, d_values, n);
  cub::DeviceScan::InclusiveSum(nullptr, bytes, d_in, d_out, n);
  cudaMalloc(&temporary, std::max(most, bytes));
  cub::DeviceScan::InclusiveSum(temporary, bytes, d_in, d_out, n);
  cudaMemcpy(got.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::partial_sum(in.begin(), in.end(), want.begin());
  CHECK(got == want);
  cub::DeviceRadixSort::SortPairsDescending(temporary, most, d_in, d_keys, d_in, d_values, n);
  cudaMemcpy(got.data(), d_values, n * sizeof(int), cudaMemcpyDeviceToHost);
  want = in;
  std::sort(want.rbegin(), want.rend());
  CHECK(got == want);
  cub::DeviceReduce::Sum(temporary, most, d_in, d_total, n);
  cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(total == sum);
  cub::DeviceReduce::Max(temporary, most, d_in, d_total, n);
  cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(total == *std::max_element(in.begin(), in.end()));
  cub::DeviceSelect::If(temporary, most, d_in, d_out, d_total, n, IsEven());
  cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(total == std::count_if(in.begin(), in.end(), IsEven()));
  cub::DevicePartition::If(temporary, most, d_in, d_out, d_total, n, IsEven());
  cudaMemcpy(got.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(std::is_permutation(in.begin(), in.end(), got.begin()) && std::is_partitioned(got.begin(), got.end(), IsEven()));
  cub::DeviceMergeSort::SortPairs(temporary, most, d_out, d_values, n, Later());
  cudaMemcpy(got.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(got == want);
  int runs, at[3] = {0, 2, n}, sums[2];
  cub::DeviceRunLengthEncode::Encode(temporary, most, d_out, d_keys, d_values, d_total, n);
  cudaMemcpy(&runs, d_total, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(got.data(), d_values, runs * sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(std::accumulate(got.begin(), got.begin() + runs, 0) == n && got[0] == std::count(in.begin(), in.end(), want[0]));
  cub::ConstantInputIterator<int> ones(1);
  cub::DeviceReduce::ReduceByKey(temporary, most, d_out, d_keys, ones, d_in, d_total, cub::Sum(), n);
  cudaMemcpy(&total, d_in, sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(total == got[0]);
  cudaMemcpy(d_keys, at, sizeof at, cudaMemcpyHostToDevice);
  cub::TransformInputIterator<int, IsEven, cub::CountingInputIterator<int>> even(cub::CountingInputIterator<int>(1), IsEven());
  cub::DeviceSegmentedReduce::Sum(temporary, most, even, d_values, 2, d_keys, d_keys + 1);
  cudaMemcpy(sums, d_values, sizeof sums, cudaMemcpyDeviceToHost);
  CHECK(sums[0] == 1 && sums[1] == n / 2 - 1);
  counts<<<1, threads>>>(d_out, d_values);
  cudaMemcpy(got.data(), d_values, 8 * sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(std::accumulate(got.begin(), got.begin() + 8, 0) == 2 * threads && got[3] >= threads);
  printf("sorted %d numbers, whose sum is %d\n", n, sum);
}
