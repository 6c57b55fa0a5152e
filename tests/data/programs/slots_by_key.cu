// A table with open addresses: the first of a key takes a slot by atomicCAS. With the bug, by a read and a write.
// bug: race
#include <cstdio>
#include <vector>

struct Slot {
  unsigned key, count;
};
constexpr unsigned capacity = 1024, nobody = ~0u;

__device__ unsigned first_slot(unsigned key) { return key * 2654435761u >> 22; }

__global__ void count(Slot *table, const unsigned *keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (unsigned at = first_slot(keys[i]);; at = (at + 1) % capacity) {
#ifdef BUG
    unsigned found = table[at].key;
    if (found == nobody) table[at].key = keys[i];
#else
    unsigned found = atomicCAS(&table[at].key, nobody, keys[i]);
#endif
    if (found == nobody || found == keys[i]) {
      atomicAdd(&table[at].count, 1u);
      return;
    }
  }
}

__global__ void look_up(unsigned *counts, const Slot *table, const unsigned *keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = first_slot(keys[i]);
  while (table[at].key != keys[i] && table[at].key != nobody) at = (at + 1) % capacity;
  counts[i] = table[at].count;
}

int main() {
  const int n = 1000, different = 300;
  std::vector<unsigned> keys(n), counts(n);
  for (int i = 0; i < n; i++) keys[i] = i % different * 7;
  std::vector<Slot> empty(capacity, Slot{nobody, 0});
  Slot *table;
  unsigned *d_keys, *d_counts;
  cudaMalloc(&table, capacity * sizeof(Slot));
  cudaMalloc(&d_keys, n * sizeof(unsigned));
  cudaMalloc(&d_counts, n * sizeof(unsigned));
  cudaMemcpy(table, empty.data(), capacity * sizeof(Slot), cudaMemcpyHostToDevice);
  cudaMemcpy(d_keys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  int blocks, threads;
  cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, count, 0, 0);
  count<<<(n + threads - 1) / threads, threads>>>(table, d_keys, n);
  look_up<<<(n + 127) / 128, 128>>>(d_counts, table, d_keys, n);
  cudaMemcpy(counts.data(), d_counts, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (counts[i] != n / different + (i % different < n % different)) return printf("%d: %u\n", i, counts[i]), 1;
  puts("ok");
}
