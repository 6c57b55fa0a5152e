// A separable convolution with the idioms of NVIDIA's samples: checkCudaErrors, a device that is looked for, options read
// from the command line, constant memory, tiles with halos, a timer, PASSED or FAILED.
// arguments: --width=70 --height=45
// bug: uninitialised race
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <string>
#include <vector>

static const char *_cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }

template <typename T>
void check(T result, char const *const func, const char *const file, int const line) {
  if (result) {
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<unsigned int>(result),
            _cudaGetErrorEnum(result), func);
    cudaDeviceReset();
    exit(EXIT_FAILURE);
  }
}
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
#define getLastCudaError(msg) __getLastCudaError(msg, __FILE__, __LINE__)
inline void __getLastCudaError(const char *errorMessage, const char *file, const int line) {
  cudaError_t err = cudaGetLastError();
  if (cudaSuccess != err) {
    fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, errorMessage, static_cast<int>(err),
            cudaGetErrorString(err));
    exit(EXIT_FAILURE);
  }
}
inline int getCmdLineArgumentInt(const int argc, const char **argv, const char *name, int otherwise) {
  for (int i = 1; i < argc; i++) {
    const char *text = argv[i];
    while (*text == '-') text++;
    size_t length = strlen(name);
    if (!strncmp(text, name, length) && text[length] == '=') return atoi(text + length + 1);
  }
  return otherwise;
}
inline int findCudaDevice(int argc, const char **argv) {
  int devID = getCmdLineArgumentInt(argc, argv, "device", 0), count = 0;
  checkCudaErrors(cudaGetDeviceCount(&count));
  if (devID >= count) exit(EXIT_FAILURE);
  int computeMode = -1, major = 0, minor = 0;
  checkCudaErrors(cudaDeviceGetAttribute(&computeMode, cudaDevAttrComputeMode, devID));
  checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, devID));
  checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, devID));
  if (computeMode == cudaComputeModeProhibited || major < 1) exit(EXIT_FAILURE);
  checkCudaErrors(cudaSetDevice(devID));
  return devID;
}

#define KERNEL_RADIUS 4
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
#define TILE 16

__constant__ float c_Kernel[KERNEL_LENGTH];

__global__ void convolutionRows(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch) {
  __shared__ float s_Data[TILE][TILE + 2 * KERNEL_RADIUS];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (y < imageH) {
    s_Data[threadIdx.y][threadIdx.x + KERNEL_RADIUS] = x < imageW ? d_Src[y * pitch + x] : 0;
    if (threadIdx.x < KERNEL_RADIUS) {
      int left = x - KERNEL_RADIUS, right = x + TILE;
      s_Data[threadIdx.y][threadIdx.x] = left >= 0 ? d_Src[y * pitch + left] : 0;
      s_Data[threadIdx.y][threadIdx.x + TILE + KERNEL_RADIUS] = right < imageW ? d_Src[y * pitch + right] : 0;
    }
  }
#ifndef BUG
  __syncthreads();
#endif
  if (x >= imageW || y >= imageH) return;
  float sum = 0;
#pragma unroll
  for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
    sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + KERNEL_RADIUS + j];
  d_Dst[y * pitch + x] = sum;
}

extern "C" void convolutionRowCPU(float *h_Dst, const float *h_Src, const float *h_Kernel, int imageW, int imageH, int kernelR) {
  for (int y = 0; y < imageH; y++)
    for (int x = 0; x < imageW; x++) {
      float sum = 0;
      for (int k = -kernelR; k <= kernelR; k++) {
        int d = x + k;
        if (d >= 0 && d < imageW) sum += h_Src[y * imageW + d] * h_Kernel[kernelR - k];
      }
      h_Dst[y * imageW + x] = sum;
    }
}

inline int iDivUp(int a, int b) { return (a % b != 0) ? (a / b + 1) : (a / b); }

int main(int argc, char **argv) {
  printf("[%s] - Starting...\n", "convolution_sample");
  findCudaDevice(argc, (const char **)argv);
  const int imageW = getCmdLineArgumentInt(argc, (const char **)argv, "width", 64);
  const int imageH = getCmdLineArgumentInt(argc, (const char **)argv, "height", 64);
  std::vector<float> h_Kernel(KERNEL_LENGTH), h_Input(imageW * imageH), h_Output(imageW * imageH), h_CPU(imageW * imageH);
  srand(200);
  for (auto &one : h_Kernel) one = (float)(rand() % 16);
  for (auto &one : h_Input) one = (float)(rand() % 16);

  float *d_Input, *d_Output;
  size_t pitch;
  checkCudaErrors(cudaMallocPitch((void **)&d_Input, &pitch, imageW * sizeof(float), imageH));
  checkCudaErrors(cudaMalloc((void **)&d_Output, pitch * imageH));
  checkCudaErrors(cudaMemcpyToSymbol(c_Kernel, h_Kernel.data(), KERNEL_LENGTH * sizeof(float)));
  checkCudaErrors(cudaMemcpy2D(d_Input, pitch, h_Input.data(), imageW * sizeof(float), imageW * sizeof(float), imageH,
                               cudaMemcpyHostToDevice));
  dim3 threads(TILE, TILE), blocks(iDivUp(imageW, TILE), iDivUp(imageH, TILE));
  for (int i = -1; i < 2; i++) {
    if (i == 0) checkCudaErrors(cudaDeviceSynchronize());
    convolutionRows<<<blocks, threads>>>(d_Output, d_Input, imageW, imageH, (int)(pitch / sizeof(float)));
    getLastCudaError("convolutionRows() execution failed\n");
  }
  checkCudaErrors(cudaDeviceSynchronize());
  checkCudaErrors(cudaMemcpy2D(h_Output.data(), imageW * sizeof(float), d_Output, pitch, imageW * sizeof(float), imageH,
                               cudaMemcpyDeviceToHost));
  convolutionRowCPU(h_CPU.data(), h_Input.data(), h_Kernel.data(), imageW, imageH, KERNEL_RADIUS);
  double sum = 0, delta = 0;
  for (size_t i = 0; i < h_CPU.size(); i++) {
    delta += (h_CPU[i] - h_Output[i]) * (h_CPU[i] - h_Output[i]);
    sum += h_CPU[i] * h_CPU[i];
  }
  double L2norm = std::sqrt(delta / sum);
  printf("Relative L2 norm: %E\n\n", L2norm);
  checkCudaErrors(cudaFree(d_Output));
  checkCudaErrors(cudaFree(d_Input));
  printf(L2norm < 1e-6 ? "Test passed\n" : "Test failed!\n");
  exit(L2norm < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE);
}
