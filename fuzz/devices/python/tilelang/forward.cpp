// The functions of CUDA's driver and runtime that TileLang's host code calls: each calls the function that Python has put
// in its place. All arguments are integers and addresses, and no function has more than twelve.
#define ARGUMENTS(T) T a, T b, T c, T d, T e, T f, T g, T h, T i, T j, T k, T l

using Word = long;
using Function = Word (*)(ARGUMENTS(Word));

extern "C" void (*kfuzz_missing)(const char *name) = nullptr;

#define FORWARD(name)                                           \
  extern "C" Function kfuzz_##name = nullptr;                   \
  extern "C" Word name(ARGUMENTS(Word)) {                       \
    if (kfuzz_##name) return kfuzz_##name(a, b, c, d, e, f, g, h, i, j, k, l); \
    kfuzz_missing(#name);                                       \
    return 0;                                                   \
  }

FORWARD(cuCtxGetDevice)
FORWARD(cuCtxGetLimit)
FORWARD(cuCtxResetPersistingL2Cache)
FORWARD(cuCtxSetLimit)
FORWARD(cuDeviceGetAttribute)
FORWARD(cuDeviceGetName)
FORWARD(cuFuncSetAttribute)
FORWARD(cuGetErrorName)
FORWARD(cuGetErrorString)
FORWARD(cuLaunchCooperativeKernel)
FORWARD(cuLaunchKernel)
FORWARD(cuLaunchKernelEx)
FORWARD(cuMemsetD32)
FORWARD(cuMemsetD32_v2)
FORWARD(cuModuleGetFunction)
FORWARD(cuModuleGetGlobal)
FORWARD(cuModuleGetGlobal_v2)
FORWARD(cuModuleLoadData)
FORWARD(cuModuleLoadDataEx)
FORWARD(cuModuleUnload)
FORWARD(cuStreamSetAttribute)
FORWARD(cuTensorMapEncodeIm2col)
FORWARD(cuTensorMapEncodeTiled)
FORWARD(cudaDeviceGetAttribute)
FORWARD(cudaDeviceSynchronize)
FORWARD(cudaEventCreate)
FORWARD(cudaEventDestroy)
FORWARD(cudaEventElapsedTime)
FORWARD(cudaEventRecord)
FORWARD(cudaEventSynchronize)
FORWARD(cudaFree)
FORWARD(cudaFreeHost)
FORWARD(cudaFuncSetAttribute)
FORWARD(cudaGetDevice)
FORWARD(cudaGetDeviceCount)
FORWARD(cudaGetDeviceProperties)
FORWARD(cudaGetErrorString)
FORWARD(cudaGetLastError)
FORWARD(cudaGraphDestroy)
FORWARD(cudaGraphExecDestroy)
FORWARD(cudaGraphInstantiate)
FORWARD(cudaGraphLaunch)
FORWARD(cudaIpcCloseMemHandle)
FORWARD(cudaIpcGetMemHandle)
FORWARD(cudaIpcOpenMemHandle)
FORWARD(cudaMalloc)
FORWARD(cudaMallocHost)
FORWARD(cudaMemGetInfo)
FORWARD(cudaMemcpy)
FORWARD(cudaMemcpyAsync)
FORWARD(cudaMemcpyPeerAsync)
FORWARD(cudaMemset)
FORWARD(cudaMemsetAsync)
FORWARD(cudaPeekAtLastError)
FORWARD(cudaSetDevice)
FORWARD(cudaStreamBeginCapture)
FORWARD(cudaStreamCreate)
FORWARD(cudaStreamCreateWithFlags)
FORWARD(cudaStreamDestroy)
FORWARD(cudaStreamEndCapture)
FORWARD(cudaStreamSynchronize)
FORWARD(cudaStreamWaitEvent)
