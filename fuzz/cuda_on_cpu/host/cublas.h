// What the files of cuBLAS share: handles, and what their settings mean.
#pragma once
#include <initializer_list>

#include "include/cuda_on_cpu_host/cublas.h"
#include "library_work.h"

struct CudaOnCpuBlas {
  bool is_alive;
  cudaStream_t stream;
  cublasPointerMode_t mode;
  cublasMath_t math;
  cublasAtomicsMode_t atomics;
};

namespace cuda_on_cpu {

bool is_handle(cublasHandle_t handle);
cublasStatus_t status_of(cudaError_t error);
Scalar scalar_of(cublasHandle_t handle, const void *given, cudaDataType type);

// The type in which products are added up, and that of alpha and beta. Halves are added up as floats.
struct ComputeTypes {
  cudaDataType arithmetic, scale;
};
ComputeTypes types_of(cublasComputeType_t compute, cudaDataType scale);
// Refuses types of elements that the cpu device does not have.
void require_types(std::initializer_list<cudaDataType> types, int line);

}  // namespace cuda_on_cpu
