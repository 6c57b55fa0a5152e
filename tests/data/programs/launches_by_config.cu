// Launches by a config with attributes: clusters, programmatic serialization, priority; and by an address in a table.
// bug: race
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

constexpr int n = 2000, bins = 64, per_block = bins / 2;

__global__ void histogram(int *to, const int *in, int count) {
  extern __shared__ int own[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) own[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
    int bin = in[i] % bins;
    atomicAdd(cluster.map_shared_rank(own, bin / per_block) + bin % per_block, 1);
  }
#ifndef BUG
  cluster.sync();
#endif
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) atomicAdd(to + cluster.block_rank() * per_block + i, own[i]);
#ifdef BUG
  cluster.sync();
#endif
}

__global__ void count_up(int *to) {
  cudaGridDependencySynchronize();
  to[threadIdx.x] += 1;
  cudaTriggerProgrammaticLaunchCompletion();
}

// ThunderKittens passes a class that becomes an address.
struct Config {
  cudaLaunchConfig_t config;
  operator cudaLaunchConfig_t *() { return &config; }
  operator const cudaLaunchConfig_t *() const { return &config; }
};

int main() {
  int *in, *to, *counted, host[n], found[bins], total = 0, one = 0;
  for (int i = 0; i < n; i++) host[i] = i * 31;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&to, sizeof found);
  cudaMalloc(&counted, 64 * sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(to, 0, sizeof found);
  cudaMemset(counted, 0, 64 * sizeof(int));

  cudaLaunchConfig_t config = {0};
  config.gridDim = 8;
  config.blockDim = 64;
  config.dynamicSmemBytes = per_block * sizeof(int);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2;
  attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  int clusters = 0;
  cudaOccupancyMaxActiveClusters(&clusters, (void *)histogram, &config);
  Config own = {config};
  if (clusters < 1 || cudaLaunchKernelEx(own, histogram, to, (const int *)in, n)) return 1;

  cudaStream_t stream;
  cudaStreamCreateWithPriority(&stream, cudaStreamDefault, -1);
  cudaLaunchAttribute more[2];
  more[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  more[0].val.programmaticStreamSerializationAllowed = 1;
  more[1].id = cudaLaunchAttributePriority;
  more[1].val.priority = -1;
  cudaLaunchConfig_t plain{};
  plain.gridDim = dim3(1);
  plain.blockDim = dim3(64);
  plain.stream = stream;
  plain.attrs = more;
  plain.numAttrs = 2;
  const void *kernels[] = {(const void *)count_up};
  void *arguments[] = {&counted};
  if (cudaLaunchKernelExC(&plain, kernels[0], arguments) || cudaLaunchKernelEx(&plain, count_up, counted)) return 2;
  cudaMemcpyAsync(&one, counted, sizeof one, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(found, to, sizeof found, cudaMemcpyDeviceToHost);
  for (int each : found) total += each;
  printf("%d %d\n", total, one);
  return total == n && one == 2 ? 0 : 3;
}
