// Products of matrices, for cuBLAS and cuBLASLt: d = f(alpha op(a) op(b) + beta c + bias).
#pragma once
#include "library_work.h"

namespace cuda_on_cpu {

// A matrix of a library: columns of elements, `ld` elements apart (or rows of them); and its place in each batch.
struct Matrix {
  const void *at;           // or, with is_list, an array of pointers in device memory
  cudaDataType type;
  int64_t rows, columns, ld;
  int64_t stride = 0;       // from batch to batch, in elements
  bool is_list = false, by_rows = false;
};

enum class Activation { none, relu, gelu };

struct Product {
  Asked by;
  bool transposes_a, transposes_b;
  int64_t m, n, k, batches;
  cudaDataType arithmetic;  // float, double or int32
  cudaDataType scale;       // of alpha and beta
  Scalar alpha, beta;
  Matrix a, b, c, d;        // a and b as they lie; c is not read where beta is 0
  Activation activation = Activation::none;
  const void *bias = nullptr;  // of m elements
  cudaDataType bias_type = CUDA_R_32F;
  void *before_activation = nullptr;  // of d's type, with this distance of its columns
  int64_t before_ld = 0;
};

void multiply(const Product &product);

}  // namespace cuda_on_cpu
