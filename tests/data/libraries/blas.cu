// Products by cuBLAS and cuBLASLt, compared with the host's. The first argument names a bug; without one nothing is wrong.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void fill(float *a, int n, float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = step * float(i * 7 % 11 - 5);
}

static int line_of_failure = 0;
static void checked(cublasStatus_t status, int line) {
  if (status != CUBLAS_STATUS_SUCCESS && !line_of_failure) line_of_failure = line;
}
#define CHECK(call) checked((call), __LINE__)

static const int m = 33, n = 20, k = 17;

static double worst(const std::vector<float> &got, const std::vector<float> &a, const std::vector<float> &b, bool a_t, bool b_t) {
  double most = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += double(a_t ? a[l + i * k] : a[i + l * m]) * (b_t ? b[j + l * n] : b[l + j * k]);
      most = fmax(most, fabs(sum - got[i + j * m]));
    }
  return most;
}

static std::vector<float> host(const float *there, int count) {
  std::vector<float> here(count);
  cudaDeviceSynchronize();
  cudaMemcpy(here.data(), there, count * sizeof(float), cudaMemcpyDeviceToHost);
  return here;
}

// A product on one stream of what another stream fills; a third reads the result.
static int products(const char *bug) {
  auto is = [&](const char *name) { return !strcmp(bug, name); };
  float *a, *b, *c, *scalars;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaMalloc(&a, m * k * sizeof(float));
  cudaMalloc(&b, k * n * sizeof(float));
  cudaMalloc(&c, m * n * sizeof(float));
  cudaMalloc(&scalars, 2 * sizeof(float));
  fill<<<3, 256, 0, two>>>(a, m * k, 1);
  if (!is("uninitialised")) fill<<<2, 256, 0, one>>>(b, k * n, 0.5f);
  if (!is("no event")) cudaStreamSynchronize(two);
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  CHECK(cublasSetStream(handle, one));
  float alpha = 1, beta = 0;
  if (is("freed")) cudaFree(b);
  int lda = is("leading dimension") ? m + 1 : m;
  CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, lda, b, k, &beta, c, m));  // the product
  if (is("read too early")) {
    float early;
    cudaMemcpyAsync(&early, c + m * n - 1, sizeof early, cudaMemcpyDeviceToHost, two);  // the early copy
    printf("%g\n", early);
  }
  std::vector<float> x = host(a, m * k), y = host(b, k * n);
  int bad = worst(host(c, m * n), x, y, false, false) > 0;
  CHECK(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_T, m, n, k, &alpha, a, k, b, n, &beta, c, m));
  bad += worst(host(c, m * n), x, y, true, true) > 0;

  // Scalars of the device, and a reduction whose result the host waits for.
  const float factors[] = {2, 1};
  CHECK(cublasSetVector(2, sizeof(float), factors, 1, scalars, 1));
  std::vector<float> before = host(c, m * n);
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  CHECK(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_T, m, n, k, scalars, a, k, b, n, scalars + 1, c, m));
  CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  float dot, norm, sum;
  int most;
  CHECK(cublasSdot(handle, m, a, 1, a + m, -1, &dot));
  CHECK(cublasSnrm2(handle, k * n, b, 1, &norm));
  CHECK(cublasSasum(handle, k, b, n, &sum));
  CHECK(cublasIsamax(handle, m, a, 1, &most));
  std::vector<float> after = host(c, m * n);
  for (int i = 0; i < m * n; i++) bad += after[i] != 3 * before[i];
  double want = 0, squares = 0, sizes = 0;
  for (int i = 0; i < m; i++) want += double(x[i]) * x[2 * m - 1 - i];
  for (float one_of : y) squares += double(one_of) * one_of;
  for (int i = 0; i < k; i++) sizes += fabs(y[i * n]);
  bad += fabs(dot - want) > 1e-3 || fabs(norm - sqrt(squares)) > 1e-4 || fabs(sum - sizes) > 1e-4 || x[most - 1] * x[most - 1] != 25;

  // A vector by a matrix, and a sum of vectors.
  alpha = 3;
  CHECK(cublasSgemv(handle, CUBLAS_OP_T, k, n, &alpha, b, k, a, 2, &beta, c, 1));
  CHECK(cublasSaxpy(handle, n, &alpha, b, 1, c, 1));
  std::vector<float> z = host(c, n);
  for (int j = 0; j < n; j++) {
    double dots = 0;
    for (int l = 0; l < k; l++) dots += double(y[l + j * k]) * x[2 * l];
    bad += fabs(z[j] - 3 * (dots + y[j])) > 1e-3;
  }
  cublasDestroy(handle);
  return bad;
}

static int halves(cublasHandle_t handle) {
  __half *a, *c, in[64], out[128];
  for (int i = 0; i < 64; i++) in[i] = __float2half(float(i % 9));
  cudaMalloc(&a, sizeof in);
  cudaMalloc(&c, sizeof out);
  CHECK(cublasSetMatrix(8, 8, sizeof(__half), in, 8, a, 8));
  float alpha = 1, beta = 0;
  CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 8, 8, 8, &alpha, a, CUDA_R_16F, 8, 0, a, CUDA_R_16F, 8, 0, &beta, c,
                                   CUDA_R_16F, 8, 64, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP));
  CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 8, 8, 8, &alpha, a, CUDA_R_16F, 8, a, CUDA_R_16F, 8, &beta, c, CUDA_R_16F, 8,
                     CUDA_R_32F, CUBLAS_GEMM_DEFAULT));
  CHECK(cublasGetVector(128, sizeof(__half), c, 1, out, 1));
  int bad = 0;
  for (int i = 0; i < 128; i++) {
    float sum = 0;
    for (int l = 0; l < 8; l++) sum += float((l + i % 8 * 8) % 9) * float((l + i / 8 % 8 * 8) % 9);
    bad += __half2float(out[i]) != sum;
  }
  return bad;
}

// Two calls in a graph that is launched three times.
static int in_a_graph(cublasHandle_t handle) {
  float *x, numbers[] = {1, 2, 3, 4}, alpha = 2;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t launched;
  cudaMalloc(&x, sizeof numbers);
  cudaMemcpy(x, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  cudaStreamCreate(&stream);
  CHECK(cublasSetStream(handle, stream));
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  CHECK(cublasSscal(handle, 4, &alpha, x, 1));
  CHECK(cublasSscal(handle, 4, &alpha, x, 1));
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&launched, graph, 0);
  for (int i = 0; i < 3; i++) cudaGraphLaunch(launched, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(numbers, x, sizeof numbers, cudaMemcpyDeviceToHost);
  return numbers[0] != 64 || numbers[3] != 256;
}

static double gelu(double x) { return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }

// gelu(A^T B + bias), on the default stream.
static int with_epilogue() {
  float *a, *b, *c, *bias;
  cudaMalloc(&a, m * k * sizeof(float));
  cudaMalloc(&b, k * n * sizeof(float));
  cudaMalloc(&c, m * n * sizeof(float));
  cudaMalloc(&bias, m * sizeof(float));
  fill<<<3, 256>>>(a, m * k, 0.01f);
  fill<<<2, 256>>>(b, k * n, 1);
  fill<<<1, 256>>>(bias, m, 0.25f);
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t a_layout, b_layout, c_layout;
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t chosen;
  cublasOperation_t transposed = CUBLAS_OP_T;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
  size_t workspace = 0;
  int found = 0;
  CHECK(cublasLtCreate(&handle));
  CHECK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
  CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
  CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
  CHECK(cublasLtMatrixLayoutCreate(&a_layout, CUDA_R_32F, k, m, k));
  CHECK(cublasLtMatrixLayoutCreate(&b_layout, CUDA_R_32F, k, n, k));
  CHECK(cublasLtMatrixLayoutCreate(&c_layout, CUDA_R_32F, m, n, m));
  CHECK(cublasLtMatmulPreferenceCreate(&preference));
  CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace));
  CHECK(cublasLtMatmulAlgoGetHeuristic(handle, product, a_layout, b_layout, c_layout, c_layout, preference, 1, &chosen, &found));
  float alpha = 1, beta = 0;
  CHECK(cublasLtMatmul(handle, product, &alpha, a, a_layout, b, b_layout, &beta, c, c_layout, c, c_layout, &chosen.algo, nullptr, 0, 0));
  CHECK(cublasLtMatrixLayoutDestroy(c_layout));
  CHECK(cublasLtMatmulDescDestroy(product));
  std::vector<float> x = host(a, m * k), y = host(b, k * n), z = host(bias, m), got = host(c, m * n);
  int bad = found != 1;
  for (int i = 0; i < m * n; i++) {
    double sum = z[i % m];
    for (int l = 0; l < k; l++) sum += double(x[l + i % m * k]) * y[l + i / m * k];
    bad += !(fabs(gelu(sum) - got[i]) < 1e-4);
  }
  return bad;
}

int main(int argc, char **argv) {
  int bad = products(argc > 1 ? argv[1] : "");
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  bad += halves(handle) + in_a_graph(handle) + with_epilogue();
  CHECK(cublasDestroy(handle));
  printf("wrong: %d, line %d\n", bad, line_of_failure);
  return argc == 1 && (bad || line_of_failure);
}
