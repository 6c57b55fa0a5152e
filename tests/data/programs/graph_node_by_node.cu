// A reduction as a graph made node by node, as CUDA's sample has it: copied in, summed twice, checked by a host function.
// bug: race
#include <cstdio>
#include <vector>

constexpr int threads = 128, blocks = 16, n = 8 * threads * blocks;

template <class In, class Out>
__global__ void sum(const In *in, Out *out, size_t count) {
  __shared__ double part[threads];
  double own = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) own += in[i];
  part[threadIdx.x] = own;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

struct Noted {
  const double *result;
  std::vector<double> every;
};

static void CUDART_CB note(void *data) {
  Noted *noted = (Noted *)data;
  noted->every.push_back(*noted->result);
}

int main() {
  float *host_in, *in;
  double *parts, *total, host_total = 0;
  cudaMallocHost(&host_in, n * sizeof(float));
  for (int i = 0; i < n; i++) host_in[i] = i & 15;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&parts, blocks * sizeof(double));
  cudaMalloc(&total, sizeof(double));

  cudaGraph_t graph;
  std::vector<cudaGraphNode_t> dependencies;
  cudaGraphNode_t copy_in, clear, kernel, copy_out, host;
  cudaKernelNodeParams kernel_params = {0};
  cudaMemcpy3DParms copy_params = {0};
  cudaMemsetParams clear_params = {0};

  copy_params.srcArray = NULL;
  copy_params.srcPos = make_cudaPos(0, 0, 0);
  copy_params.srcPtr = make_cudaPitchedPtr(host_in, sizeof(float) * n, n, 1);
  copy_params.dstArray = NULL;
  copy_params.dstPos = make_cudaPos(0, 0, 0);
  copy_params.dstPtr = make_cudaPitchedPtr(in, sizeof(float) * n, n, 1);
  copy_params.extent = make_cudaExtent(sizeof(float) * n, 1, 1);
  copy_params.kind = cudaMemcpyHostToDevice;

  clear_params.dst = (void *)parts;
  clear_params.value = 0;
  clear_params.pitch = 0;
  clear_params.elementSize = sizeof(float);  // element size is at most 4 bytes
  clear_params.width = blocks * 2;
  clear_params.height = 1;

  cudaGraphCreate(&graph, 0);
  cudaGraphAddMemcpyNode(&copy_in, graph, NULL, 0, &copy_params);
  cudaGraphAddMemsetNode(&clear, graph, NULL, 0, &clear_params);
#ifndef BUG
  dependencies.push_back(clear);
#endif
  dependencies.push_back(copy_in);

  size_t count = n;
  void *kernel_args[3] = {(void *)&in, (void *)&parts, &count};
  kernel_params.func = (void *)sum<float, double>;
  kernel_params.gridDim = dim3(blocks, 1, 1);
  kernel_params.blockDim = dim3(threads, 1, 1);
  kernel_params.sharedMemBytes = 0;
  kernel_params.kernelParams = (void **)kernel_args;
  kernel_params.extra = NULL;
  cudaGraphAddKernelNode(&kernel, graph, dependencies.data(), dependencies.size(), &kernel_params);
  dependencies.clear();
  dependencies.push_back(kernel);

  size_t part_count = blocks;
  void *final_args[3] = {(void *)&parts, (void *)&total, &part_count};
  kernel_params.func = (void *)sum<double, double>;
  kernel_params.gridDim = dim3(1, 1, 1);
  kernel_params.kernelParams = final_args;
  cudaGraphAddKernelNode(&kernel, graph, dependencies.data(), dependencies.size(), &kernel_params);
  dependencies[0] = kernel;

  copy_params.srcPtr = make_cudaPitchedPtr(total, sizeof(double), 1, 1);
  copy_params.dstPtr = make_cudaPitchedPtr(&host_total, sizeof(double), 1, 1);
  copy_params.extent = make_cudaExtent(sizeof(double), 1, 1);
  copy_params.kind = cudaMemcpyDeviceToHost;
  cudaGraphAddMemcpyNode(&copy_out, graph, dependencies.data(), dependencies.size(), &copy_params);
  dependencies[0] = copy_out;

  Noted noted{&host_total, {}};
  cudaHostNodeParams host_params = {0};
  host_params.fn = note;
  host_params.userData = &noted;
  cudaGraphAddHostNode(&host, graph, dependencies.data(), dependencies.size(), &host_params);

  cudaGraph_t clone;
  cudaGraphClone(&clone, graph);
  cudaGraphExec_t exec, clone_exec;
  if (cudaGraphInstantiate(&exec, graph, NULL, NULL, 0) || cudaGraphInstantiate(&clone_exec, clone, NULL, NULL, 0)) return 1;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, stream);
  for (int i = 0; i < 2; i++) cudaGraphLaunch(clone_exec, stream);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return 2;
  for (double one : noted.every) printf("%g\n", one);
  cudaGraphExecDestroy(exec);
  cudaGraphExecDestroy(clone_exec);
  cudaGraphDestroy(graph);
  cudaGraphDestroy(clone);
  return noted.every.size() == 5 && noted.every[4] == 7.5 * n ? 0 : 3;
}
