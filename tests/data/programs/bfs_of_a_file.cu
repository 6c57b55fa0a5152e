// Distances in a graph that is read from a file: lines "from to", the number of vertices in the first.
// bug: out-of-bounds
// arguments: ring.txt
#include <cstdio>
#include <fstream>
#include <iostream>
#include <vector>

__global__ void level(const int *start, const int *to, int *distance, int n, int depth, int *more) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || atomicAdd(&distance[v], 0) != depth) return;  // others may be about to set it
#ifdef BUG
  for (int e = start[v]; e <= start[v + 1]; e++)
#else
  for (int e = start[v]; e < start[v + 1]; e++)
#endif
    if (atomicCAS(&distance[to[e]], -1, depth + 1) == -1) atomicExch(more, 1);
}

int main(int argc, char **argv) {
  std::ifstream file(argc > 1 ? argv[1] : "graph.txt");
  int n, from, to;
  if (!(file >> n)) {
    std::cerr << "no graph" << std::endl;
    return 2;
  }
  std::vector<std::vector<int>> next(n);
  while (file >> from >> to) next[from].push_back(to);
  std::vector<int> start{0}, edges, distance(n, -1);
  for (auto &list : next) {
    edges.insert(edges.end(), list.begin(), list.end());
    start.push_back((int)edges.size());
  }
  distance[0] = 0;
  int *d_start, *d_edges, *d_distance, *d_more, more = 1;
  cudaMalloc(&d_start, start.size() * 4), cudaMalloc(&d_edges, edges.size() * 4);
  cudaMalloc(&d_distance, n * 4), cudaMalloc(&d_more, 4);
  cudaMemcpy(d_start, start.data(), start.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_edges, edges.data(), edges.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_distance, distance.data(), n * 4, cudaMemcpyHostToDevice);
  for (int depth = 0; more; depth++) {
    cudaMemset(d_more, 0, 4);
    level<<<(n + 31) / 32, 32>>>(d_start, d_edges, d_distance, n, depth, d_more);
    cudaMemcpy(&more, d_more, 4, cudaMemcpyDeviceToHost);
  }
  cudaMemcpy(distance.data(), d_distance, n * 4, cudaMemcpyDeviceToHost);
  for (int v = 0; v < n; v++) std::cout << v << ": " << distance[v] << "\n";
}
