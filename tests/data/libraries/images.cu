// Arrays, textures and surfaces. The first argument names a bug; without one nothing is wrong.
#include <cmath>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

const int width = 21, height = 9, layers = 3;

__global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(texture, at[i].x, at[i].y);  // the sample
}
__global__ void fetch(cudaTextureObject_t texture, int *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tex1Dfetch<int>(texture, i - 1);
}
__global__ void pixels(cudaTextureObject_t texture, float4 *out) {
  out[threadIdx.x] = tex2D<float4>(texture, (threadIdx.x + 0.5f) / width, 0.5f / height);
}
__global__ void volume(cudaTextureObject_t solid, cudaTextureObject_t stack, float *out) {
  float own;
  tex2DLayered(&own, stack, 2.5f, 3.5f, threadIdx.x);
  out[threadIdx.x] = tex3D<float>(solid, 2.5f, 3.5f, threadIdx.x + 0.5f) + 1000 * own;
}
__global__ void invert(cudaSurfaceObject_t surface, int shift, int step) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  float value;
  surf2Dread(&value, surface, x * step, y);
  surf2Dwrite(-value, surface, (x + shift) * step, y);  // the write
}
__global__ void neighbours(cudaSurfaceObject_t surface, bool own) {
  int x = threadIdx.x;
  float left = surf2Dread<float>(surface, (own ? x : x - 1) * (int)sizeof(float), 0, cudaBoundaryModeClamp);  // the read
  surf2Dwrite(left + 1, surface, x * (int)sizeof(float), 0);
}

// Directions to the middle of each element of each face, made from the axes of the faces; then a surface turns signs.
__global__ void cubes(cudaTextureObject_t cube, float *out, int side, int faces) {
  const float forward[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  const float right[6][3] = {{0, 0, -1}, {0, 0, 1}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {-1, 0, 0}};
  const float down[6][3] = {{0, -1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {0, -1, 0}, {0, -1, 0}};
  for (int i = threadIdx.x; i < faces * side * side; i += blockDim.x) {
    int face = i / (side * side) % 6, layer = i / (side * side) / 6;
    float s = (i % side + 0.5f) / side * 2 - 1, t = (i / side % side + 0.5f) / side * 2 - 1, to[3];
    for (int axis = 0; axis < 3; axis++) to[axis] = 3 * (forward[face][axis] + s * right[face][axis] + t * down[face][axis]);
    out[i] = texCubemapLayered<float>(cube, to[0], to[1], to[2], layer);
  }
}
__global__ void turn(cudaSurfaceObject_t cube, int shift) {
  float value = surfCubemapLayeredread<float>(cube, threadIdx.x * 4, threadIdx.y, blockIdx.x);
  surfCubemapLayeredwrite(-value, cube, threadIdx.x * 4, threadIdx.y, blockIdx.x + shift);  // the face
}

static float at(const float *image, int x, int y) {
  x = x < 0 ? 0 : x >= width ? width - 1 : x;
  y = y < 0 ? 0 : y >= height ? height - 1 : y;
  return image[y * width + x];
}
static float filtered(const float *image, float x, float y) {
  float i = floorf(x - 0.5f), j = floorf(y - 0.5f);
  float a = roundf((x - 0.5f - i) * 256) / 256, b = roundf((y - 0.5f - j) * 256) / 256;
  int u = int(i), v = int(j);
  return (1 - a) * (1 - b) * at(image, u, v) + a * (1 - b) * at(image, u + 1, v) + (1 - a) * b * at(image, u, v + 1) +
         a * b * at(image, u + 1, v + 1);
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureAddressMode mode, bool normalised, cudaTextureFilterMode filter,
                                      cudaTextureReadMode read = cudaReadModeElementType) {
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = mode;
  how.normalizedCoords = normalised;
  how.filterMode = filter;
  how.readMode = read;
  cudaTextureObject_t texture = 0;
  if (cudaCreateTextureObject(&texture, &resource, &how, nullptr) != cudaSuccess) printf("no texture\n");
  return texture;
}

int main(int argc, char **argv) {
  auto is = [&](const char *name) { return argc > 1 && !strcmp(argv[1], name); };
  float image[width * height];
  for (int i = 0; i < width * height; i++) image[i] = float(i * 37 % 101);
  cudaChannelFormatDesc single = cudaCreateChannelDesc<float>();
  cudaArray *array;
  cudaMallocArray(&array, &single, width, height, cudaArraySurfaceLoadStore);
  int rows = is("uninitialised") ? height - 1 : height;
  cudaMemcpy2DToArray(array, 0, 0, image, width * sizeof(float), width * sizeof(float), rows, cudaMemcpyHostToDevice);

  // Points and filters, by all ways to leave the image.
  const int n = 64;
  float2 points[n], *there;
  float *out, got[n];
  for (int i = 0; i < n; i++) points[i] = {float(i * 29 % 71) / 2.3f - 4, float(i * 13 % 37) / 2.9f - 2};
  cudaMalloc(&there, sizeof points);
  cudaMalloc(&out, sizeof got);
  cudaMemcpy(there, points, sizeof points, cudaMemcpyHostToDevice);
  cudaTextureObject_t linear = texture_of(array, cudaAddressModeClamp, false, cudaFilterModeLinear);
  if (is("destroyed")) cudaDestroyTextureObject(linear);
  if (is("freed")) cudaFreeArray(array);
  sample<<<1, n>>>(linear, there, out, n);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  int bad = 0;
  for (int i = 0; i < n; i++) bad += !(fabsf(got[i] - filtered(image, points[i].x, points[i].y)) < 1e-3f);
  float sum = 0;
  for (float one : got) sum += one;
  printf("linear %d, sum %g\n", bad, sum);

  const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder};
  for (cudaTextureAddressMode mode : modes) {
    cudaTextureObject_t texture = texture_of(array, mode, true, cudaFilterModePoint);
    float2 fractions[n];
    for (int i = 0; i < n; i++) fractions[i] = {(points[i].x * 3 + 0.3f) / width, 0.5f / height};
    cudaMemcpy(there, fractions, sizeof fractions, cudaMemcpyHostToDevice);
    sample<<<1, n>>>(texture, there, out, n);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    bad = 0;
    for (int i = 0; i < n; i++) {
      int x = int(floorf(fractions[i].x * width)), two = 2 * width, m = (x % two + two) % two;
      bool is_in = x >= 0 && x < width;
      float want = mode == cudaAddressModeWrap ? image[m % width]
                   : mode == cudaAddressModeMirror ? image[m < width ? m : two - 1 - m]
                   : mode == cudaAddressModeClamp ? at(image, x, 0) : is_in ? image[x] : 0;
      bad += got[i] != want;
    }
    printf("mode %d: %d\n", int(mode), bad);
    cudaDestroyTextureObject(texture);
  }

  // Linear memory, beyond which a fetch reads 0; and bytes as fractions, in rows with a pitch.
  int numbers[30], *list, fetched[32], *fetches;
  for (int i = 0; i < 30; i++) numbers[i] = i * i + 1;
  cudaMalloc(&list, sizeof numbers);
  cudaMalloc(&fetches, sizeof fetched);
  cudaMemcpy(list, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = list;
  resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  resource.res.linear.sizeInBytes = sizeof numbers + (is("too long") ? 4 : 0);
  cudaTextureDesc how = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  fetch<<<1, 32>>>(texture, fetches, 32);
  cudaMemcpy(fetched, fetches, sizeof fetched, cudaMemcpyDeviceToHost);
  bad = fetched[0] != 0 || (argc == 1 && fetched[31] != 0);
  for (int i = 0; i < 30; i++) bad += fetched[i + 1] != numbers[i];
  uchar4 colours[width * height], *pitched;
  size_t pitch;
  for (int i = 0; i < width * height; i++) colours[i] = make_uchar4(i, 255 - i % 256, 7, 255);
  cudaMallocPitch(&pitched, &pitch, width * sizeof(uchar4), height);
  cudaMemcpy2D(pitched, pitch, colours, width * sizeof(uchar4), width * sizeof(uchar4), height, cudaMemcpyHostToDevice);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = pitched;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  how.readMode = cudaReadModeNormalizedFloat;
  how.normalizedCoords = 1;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  float4 fractions[width], *wide;
  cudaMalloc(&wide, sizeof fractions);
  pixels<<<1, width>>>(texture, wide);
  cudaMemcpy(fractions, wide, sizeof fractions, cudaMemcpyDeviceToHost);
  for (int i = 0; i < width; i++) bad += fractions[i].x != i / 255.0f || fractions[i].w != 1 || fractions[i].z != 7 / 255.0f;
  printf("memory %d\n", bad);

  // A solid and a stack of images, filled by cudaMemcpy3D.
  float cube[layers * width * height];
  for (int i = 0; i < layers * width * height; i++) cube[i] = float(i);
  cudaArray_t solid, stack;
  cudaMalloc3DArray(&solid, &single, make_cudaExtent(width, height, layers));
  cudaMalloc3DArray(&stack, &single, make_cudaExtent(width, height, layers), cudaArrayLayered);
  for (cudaArray_t one : {solid, stack}) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(cube, width * sizeof(float), width, height);
    copy.dstArray = one;
    copy.extent = make_cudaExtent(width, height, layers);
    copy.kind = cudaMemcpyHostToDevice;
    if (cudaMemcpy3D(&copy) != cudaSuccess) printf("no copy\n");
  }
  volume<<<1, layers>>>(texture_of(solid, cudaAddressModeClamp, false, cudaFilterModePoint),
                        texture_of(stack, cudaAddressModeClamp, false, cudaFilterModePoint), out);
  cudaMemcpy(got, out, layers * sizeof(float), cudaMemcpyDeviceToHost);
  bad = 0;
  for (int z = 0; z < layers; z++) bad += got[z] != 1001 * cube[(z * height + 3) * width + 2];
  printf("solid %d\n", bad);

  // Two cubes, read in directions from their middles, and turned through a surface.
  const int side = 5, faces = 12, all = faces * side * side;
  float sides[all], *of_cubes;
  for (int i = 0; i < all; i++) sides[i] = float(i);
  cudaMalloc(&of_cubes, sizeof sides);
  cudaArray_t two_cubes;
  cudaMalloc3DArray(&two_cubes, &single, make_cudaExtent(side, side, faces), cudaArrayCubemap | cudaArrayLayered | cudaArraySurfaceLoadStore);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(sides, side * sizeof(float), side, side);
  copy.dstArray = two_cubes;
  copy.extent = make_cudaExtent(side, side, faces);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = two_cubes;
  cudaSurfaceObject_t turned;
  cudaCreateSurfaceObject(&turned, &resource);
  turn<<<faces, dim3(side, side)>>>(turned, is("seventh face"));
  cubes<<<1, 64>>>(texture_of(two_cubes, cudaAddressModeClamp, true, cudaFilterModeLinear), of_cubes, side, faces);
  cudaMemcpy(sides, of_cubes, sizeof sides, cudaMemcpyDeviceToHost);
  bad = 0;
  for (int i = 0; i < all; i++) bad += sides[i] != -i;
  printf("cube %d\n", bad);

  // Surfaces.
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  if (cudaCreateSurfaceObject(&surface, &resource) != cudaSuccess) return 2;
  invert<<<dim3(1, height), 32>>>(surface, is("beyond the edge"), is("elements for bytes") ? 1 : sizeof(float));
  neighbours<<<1, width>>>(surface, !is("race"));
  float back[width * height];
  cudaMemcpy2DFromArray(back, width * sizeof(float), array, 0, 0, width * sizeof(float), height, cudaMemcpyDeviceToHost);
  bad = 0;
  for (int i = 0; i < width * height; i++) bad += back[i] != (i < width ? 1 - image[i] : -image[i]);
  printf("surface %d, first %g %g\n", bad, back[0], back[1]);
  cudaFreeArray(array);
}
