// A homework: tiled multiplication of matrices whose sizes are no multiples of the tile, read from a file of its own making,
// with the teacher's macros. With the bug the last tile is read past the edge.
// bug: out-of-bounds
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#define TILE_WIDTH 16
#define wbCheck(stmt)                                                      \
  do {                                                                     \
    cudaError_t err = stmt;                                                \
    if (err != cudaSuccess) {                                              \
      std::cerr << "Failed to run stmt " << #stmt << std::endl;            \
      std::cerr << "Got CUDA error ...  " << cudaGetErrorString(err) << std::endl; \
      return -1;                                                           \
    }                                                                      \
  } while (0)

// Compute C = A * B
__global__ void matrixMultiplyShared(float *A, float *B, float *C, int numARows, int numAColumns, int numBRows, int numBColumns,
                                     int numCRows, int numCColumns) {
  //@@ Insert code to implement matrix multiplication here
  __shared__ float ds_A[TILE_WIDTH][TILE_WIDTH];
  __shared__ float ds_B[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty, Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int m = 0; m < (numAColumns - 1) / TILE_WIDTH + 1; ++m) {
#ifdef BUG
    if (Row < numARows)
#else
    if (Row < numARows && m * TILE_WIDTH + tx < numAColumns)
#endif
      ds_A[ty][tx] = A[Row * numAColumns + m * TILE_WIDTH + tx];
    else
      ds_A[ty][tx] = 0;
    if (Col < numBColumns && m * TILE_WIDTH + ty < numBRows)
      ds_B[ty][tx] = B[(m * TILE_WIDTH + ty) * numBColumns + Col];
    else
      ds_B[ty][tx] = 0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k) Pvalue += ds_A[ty][k] * ds_B[k][tx];
    __syncthreads();
  }
  if (Row < numCRows && Col < numCColumns) C[Row * numCColumns + Col] = Pvalue;
}

static float *wbImport(std::istream &file, int *rows, int *columns) {
  file >> *rows >> *columns;
  float *data = new float[*rows * *columns];
  for (int i = 0; i < *rows * *columns; i++) file >> data[i];
  return data;
}

int main(int argc, char **argv) {
  std::stringstream input0, input1;
  input0 << 35 << " " << 21 << "\n";
  input1 << 21 << " " << 50 << "\n";
  for (int i = 0; i < 35 * 21; i++) input0 << i % 7 << " ";
  for (int i = 0; i < 21 * 50; i++) input1 << i % 5 << " ";
  int numARows, numAColumns, numBRows, numBColumns;
  float *hostA = wbImport(input0, &numARows, &numAColumns), *hostB = wbImport(input1, &numBRows, &numBColumns);
  int numCRows = numARows, numCColumns = numBColumns;
  float *hostC = new float[numCRows * numCColumns], *deviceA, *deviceB, *deviceC;

  wbCheck(cudaMalloc((void **)&deviceA, sizeof(float) * numARows * numAColumns));
  wbCheck(cudaMalloc((void **)&deviceB, sizeof(float) * numBRows * numBColumns));
  wbCheck(cudaMalloc((void **)&deviceC, sizeof(float) * numCRows * numCColumns));
  wbCheck(cudaMemcpy(deviceA, hostA, sizeof(float) * numARows * numAColumns, cudaMemcpyHostToDevice));
  wbCheck(cudaMemcpy(deviceB, hostB, sizeof(float) * numBRows * numBColumns, cudaMemcpyHostToDevice));
  dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
  dim3 dimGrid(ceil((float)numCColumns / TILE_WIDTH), ceil((float)numCRows / TILE_WIDTH), 1);
  matrixMultiplyShared<<<dimGrid, dimBlock>>>(deviceA, deviceB, deviceC, numARows, numAColumns, numBRows, numBColumns, numCRows,
                                              numCColumns);
  cudaDeviceSynchronize();
  wbCheck(cudaMemcpy(hostC, deviceC, sizeof(float) * numCRows * numCColumns, cudaMemcpyDeviceToHost));

  bool correct = true;
  for (int row = 0; row < numCRows; row++)
    for (int column = 0; column < numCColumns; column++) {
      float sum = 0;
      for (int k = 0; k < numAColumns; k++) sum += hostA[row * numAColumns + k] * hostB[k * numBColumns + column];
      correct = correct && std::fabs(sum - hostC[row * numCColumns + column]) < 1e-3f;
    }
  std::cout << (correct ? "Solution is correct." : "The solution did not match the expected results.") << std::endl;
  cudaFree(deviceA);
  cudaFree(deviceB);
  cudaFree(deviceC);
  delete[] hostA;
  delete[] hostB;
  delete[] hostC;
  return correct ? 0 : 1;
}
