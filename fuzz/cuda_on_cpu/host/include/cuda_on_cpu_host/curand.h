// The part of cuRAND's host functions that the cpu device has (../../random.cpp): XORWOW, Philox4x32-10 and Sobol'.
#pragma once
#define CURAND_H_  // for which other headers look (NVIDIA's helper_cuda.h)
#include "api.h"

typedef enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;
typedef enum curandRngType {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
} curandRngType_t;
typedef enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201
} curandOrdering_t;
typedef enum curandDirectionVectorSet {
  CURAND_DIRECTION_VECTORS_32_JOEKUO6 = 101,
  CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6 = 102,
  CURAND_DIRECTION_VECTORS_64_JOEKUO6 = 103,
  CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6 = 104
} curandDirectionVectorSet_t;
typedef struct CudaOnCpuGenerator *curandGenerator_t;

#define CUDA_ON_CPU_RANDOM CUDA_ON_CPU_IMPORT curandStatus_t
CUDA_ON_CPU_RANDOM curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandDestroyGenerator(curandGenerator_t generator);
CUDA_ON_CPU_RANDOM curandGetVersion(int *version);
CUDA_ON_CPU_RANDOM curandSetStream(curandGenerator_t generator, cudaStream_t stream);
CUDA_ON_CPU_RANDOM curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
CUDA_ON_CPU_RANDOM curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
CUDA_ON_CPU_RANDOM curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order);
CUDA_ON_CPU_RANDOM curandGenerateSeeds(curandGenerator_t generator);
CUDA_ON_CPU_RANDOM curandGenerate(curandGenerator_t generator, unsigned int *to, size_t count, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandGenerateLongLong(curandGenerator_t generator, unsigned long long *to, size_t count, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandGenerateUniform(curandGenerator_t generator, float *to, size_t count, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandGenerateUniformDouble(curandGenerator_t generator, double *to, size_t count, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandGenerateNormal(curandGenerator_t generator, float *to, size_t count, float mean, float deviation, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandGenerateNormalDouble(curandGenerator_t generator, double *to, size_t count, double mean, double deviation, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandGenerateLogNormal(curandGenerator_t generator, float *to, size_t count, float mean, float deviation, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandGenerateLogNormalDouble(curandGenerator_t generator, double *to, size_t count, double mean, double deviation, CUDA_ON_CPU_LINE);

// The quasi-random generators have ten dimensions here; on a GPU they have 20,000.
CUDA_ON_CPU_RANDOM curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int dimensions, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandGetDirectionVectors32(unsigned int (**directions)[32], curandDirectionVectorSet_t set, CUDA_ON_CPU_LINE);
CUDA_ON_CPU_RANDOM curandGetDirectionVectors64(unsigned long long (**directions)[64], curandDirectionVectorSet_t set, CUDA_ON_CPU_LINE);
