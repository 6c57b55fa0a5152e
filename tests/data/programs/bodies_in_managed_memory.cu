// Bodies that attract each other, in managed memory that is advised on and fetched ahead; a tile of them at a time in
// shared memory. With the bug a fast warp writes the next tile while a slow one still reads this one.
// bug: race
#include <cmath>
#include <cstdio>

struct Bodies {
  float4 *position;
  float3 *velocity;
  int count;
};

constexpr int tile = 64;

__host__ __device__ inline float3 pull(float4 on, float4 by, float3 sum) {
  const float x = by.x - on.x, y = by.y - on.y, z = by.z - on.z;
  const float square = x * x + y * y + z * z + 0.01f;
#ifdef __CUDA_ARCH__
  const float inverse = rsqrtf(square);
#else
  const float inverse = 1.0f / std::sqrt(square);
#endif
  const float size = by.w * inverse * inverse * inverse;
  return make_float3(sum.x + x * size, sum.y + y * size, sum.z + z * size);
}

__global__ void accelerate(Bodies bodies, float step) {
  __shared__ float4 shared[tile];
  const int i = blockIdx.x * tile + threadIdx.x;
  const float4 mine = bodies.position[i];
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < bodies.count; first += tile) {
    shared[threadIdx.x] = bodies.position[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < tile; j++) sum = pull(mine, shared[j], sum);
#ifndef BUG
    __syncthreads();
#endif
  }
  float3 &velocity = bodies.velocity[i];
  velocity.x += step * sum.x, velocity.y += step * sum.y, velocity.z += step * sum.z;
}

__global__ void move(Bodies bodies, float step) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < bodies.count; i += blockDim.x * gridDim.x) {
    bodies.position[i].x += step * bodies.velocity[i].x;
    bodies.position[i].y += step * bodies.velocity[i].y;
    bodies.position[i].z += step * bodies.velocity[i].z;
  }
}

static float energy(const Bodies &bodies) {
  double sum = 0;
  for (int i = 0; i < bodies.count; i++) {
    const float3 v = bodies.velocity[i];
    sum += 0.5 * bodies.position[i].w * (v.x * v.x + v.y * v.y + v.z * v.z);
  }
  return static_cast<float>(sum);
}

int main() {
  Bodies bodies = {nullptr, nullptr, 4 * tile};
  if (cudaMallocManaged(&bodies.position, bodies.count * sizeof *bodies.position) != cudaSuccess) return 1;
  if (cudaMallocManaged(&bodies.velocity, bodies.count * sizeof *bodies.velocity) != cudaSuccess) return 1;
  for (int i = 0; i < bodies.count; i++) {
    bodies.position[i] = make_float4(std::cos(i * 0.1f), std::sin(i * 0.3f), 0.01f * i, 1.0f / bodies.count);
    bodies.velocity[i] = make_float3(0, 0, 0);
  }
  for (int turn = 0; turn < 3; turn++) {
    accelerate<<<bodies.count / tile, tile>>>(bodies, 0.01f);
    move<<<2, 96>>>(bodies, 0.01f);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  const float now = energy(bodies);
  std::printf("energy %s\n", now > 0 && now < 1 ? "as expected" : "lost");
  cudaFree(bodies.position);
  cudaFree(bodies.velocity);
  return !(now > 0 && now < 1);
}
