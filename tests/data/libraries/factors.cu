// LU factors of many matrices by cuBLAS, and a product of the host's arrays by cuBLASXt: the program compares both with what
// they were made of. Its argument chooses a bug.
#include <cublasXt.h>
#include <cublas_v2.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

template <class T>
int wrong_factors(cublasStatus_t (*call)(cublasHandle_t, int, T *const[], int, int *, int *, int, int), const char *bug) {
  const int n = 7, ld = 9, count = 5;
  std::vector<T> a(ld * n * count), lu(a.size());
  unsigned int word = 1;
  for (T &x : a) x = static_cast<T>((word = word * 1664525u + 1013904223u) >> 8) / (1 << 24) - T(0.5);
  for (int i = 0; i < n; i++) a[(2 * n + i) * ld + 3] = 0;  // the third matrix has a row of zeros
  T *on_device, *list[count], **list_on_device;
  int *pivots, *info, p[n * count], zero[count];
  cudaMalloc(&on_device, a.size() * sizeof(T));
  cudaMalloc(&list_on_device, sizeof list);
  cudaMalloc(&pivots, sizeof p);
  cudaMalloc(&info, !strcmp(bug, "too short") ? sizeof zero - 4 : sizeof zero);
  for (int i = 0; i < count; i++) list[i] = on_device + i * n * ld;
  if (strcmp(bug, "unwritten")) cudaMemcpy(on_device, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemcpy(list_on_device, list, sizeof list, cudaMemcpyHostToDevice);
  cublasHandle_t handle;
  cublasCreate(&handle);
  if (call(handle, n, list_on_device, ld, pivots, info, count, __LINE__)) return -1;  // the factors
  cublasDestroy(handle);
  cudaMemcpy(lu.data(), on_device, a.size() * sizeof(T), cudaMemcpyDeviceToHost);
  cudaMemcpy(p, pivots, sizeof p, cudaMemcpyDeviceToHost);
  cudaMemcpy(zero, info, sizeof zero, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int b = 0; b < count; b++) {
    auto of = [&](std::vector<T> &x, int row, int column) -> T & { return x[(b * n + column) * ld + row]; };
    wrong += (zero[b] != 0) != (b == 2);
    for (int k = 0; k < n; k++)
      for (int column = 0; column < n; column++) std::swap(of(a, k, column), of(a, p[b * n + k] - 1, column));
    for (int row = 0; row < n; row++)
      for (int column = 0; column < n; column++) {
        double sum = 0;
        for (int k = 0; k <= row && k <= column; k++) sum += (k == row ? 1.0 : static_cast<double>(of(lu, row, k))) * of(lu, k, column);
        wrong += !(std::fabs(sum - of(a, row, column)) <= n * n * std::numeric_limits<T>::epsilon());  // n u |L| |U|, |L| <= 1, |U| <= 2 n
      }
  }
  return wrong;
}

int wrong_products() {
  const int m = 5, n = 4, k = 3;
  float a[k * m], b[n * k], c[m * n], alpha = 2, beta = -1;
  for (int i = 0; i < k * m; i++) a[i] = i % 7;
  for (int i = 0; i < n * k; i++) b[i] = i % 5;
  for (int i = 0; i < m * n; i++) c[i] = i;
  cublasXtHandle_t handle;
  int device = 0, block = 0;
  if (cublasXtCreate(&handle) || cublasXtDeviceSelect(handle, 1, &device) || cublasXtSetBlockDim(handle, 64)) return -1;
  if (cublasXtGetBlockDim(handle, &block) || block != 64) return -2;
  if (cublasXtSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, a, k, b, k, &beta, c, m)) return -3;
  cublasXtDestroy(handle);
  int wrong = 0;
  for (int row = 0; row < m; row++)
    for (int column = 0; column < n; column++) {
      float sum = 0;
      for (int i = 0; i < k; i++) sum += a[row * k + i] * b[column * k + i];
      wrong += c[column * m + row] != 2 * sum - (column * m + row);
    }
  return wrong;
}

int main(int argc, char **argv) {
  const char *bug = argc > 1 ? argv[1] : "";
  int wrong = wrong_factors<float>(cublasSgetrfBatched, bug) | wrong_factors<double>(cublasDgetrfBatched, bug) | wrong_products();
  printf("wrong: %d\n", wrong);
}
