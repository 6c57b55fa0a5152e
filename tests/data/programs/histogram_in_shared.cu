// Counts of letters: a table a block in shared memory, then atomics.
// bug: race
#include <cstdio>
#include <cstring>
#include <string>

constexpr int letters = 26;

__global__ void count(const char *text, int length, unsigned int *table) {
  __shared__ unsigned int own[letters];
  for (int i = threadIdx.x; i < letters; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
    char c = text[i] | 32;
    if (c >= 'a' && c <= 'z')
#ifdef BUG
      own[c - 'a']++;
#else
      atomicAdd(&own[c - 'a'], 1u);
#endif
  }
  __syncthreads();
  for (int i = threadIdx.x; i < letters; i += blockDim.x) atomicAdd(&table[i], own[i]);
}

int main() {
  std::string text;
  for (int i = 0; i < 40; i++) text += "The quick brown fox jumps over the lazy dog. ";
  char *device_text;
  unsigned int *device_table, table[letters];
  cudaMalloc(&device_text, text.size());
  cudaMalloc(&device_table, sizeof table);
  cudaMemcpy(device_text, text.data(), text.size(), cudaMemcpyHostToDevice);
  cudaMemset(device_table, 0, sizeof table);
  count<<<4, 64>>>(device_text, (int)text.size(), device_table);
  cudaMemcpy(table, device_table, sizeof table, cudaMemcpyDeviceToHost);
  for (int i = 0; i < letters; i++) printf("%c %u\n", 'a' + i, table[i]);
}
