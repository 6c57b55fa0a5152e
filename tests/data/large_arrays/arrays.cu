// Arrays of 2 GB each, of which few words are touched. The first word of the command line says whether the program is right,
// has one defect of each kind, touches all of one array, or fills one with or without a gap; marks name the lines of the
// defects.
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr size_t elements = size_t{1} << 29, middle = elements / 3;

__global__ void write(int *a, size_t at, int value) { a[at] = value; }

__global__ void read(const int *a, size_t at, int *to) { *to = a[at]; }

__global__ void write_after(int *a) {
  a[elements] = 1;  // AFTER
}

__global__ void write_before(int *a) {
  a[-1] = 1;  // BEFORE
}

__global__ void read_unwritten(const int *a, int *to) {
  if (a[middle] == 12345) *to = 1;  // UNWRITTEN
}

__global__ void race(int *a) {
  a[middle + 1] = blockIdx.x;  // RACE
}

__global__ void read_freed(const int *a, int *to) {
  if (a[middle] == 12345) *to = 1;  // FREED
}

__global__ void read_meanwhile(const int *a, int *to) {
  if (a[2 * middle] == 12345) *to = 1;  // MEANWHILE
}

__global__ void touch(int *a, size_t count, size_t step) {
  size_t at = (blockIdx.x * size_t{blockDim.x} + threadIdx.x) * step;
  if (at < count) a[at] = 1;
}

constexpr unsigned threads = 256, blocks_of_fill = 4096, gap = 2345;

__global__ void fill(int *a, bool leaves_gap) {
  if (!leaves_gap || blockIdx.x != gap) a[blockIdx.x * threads + threadIdx.x] = 1;
}

__global__ void look_for_others(const int *a, int *to) {
  if (a[blockIdx.x * threads + threadIdx.x] != 1) *to = 1;  // GAP
}

static int *allocate() {
  int *a;
  if (cudaMalloc(&a, elements * sizeof(int))) exit(2);
  return a;
}

// Written by memsets and copies as a whole and in part, on one stream and on two that wait for each other; freed, and
// allocated again, more often than there is memory.
static void do_right(int *a, int *b, int *to, cudaStream_t stream, cudaStream_t other) {
  cudaMemset(b, 0, elements * sizeof(int));
  for (size_t at : {size_t{0}, middle, elements - 1}) {
    write<<<1, 1>>>(a, at, 7);
    read<<<1, 1>>>(a, at, to);
    read<<<1, 1>>>(b, at, to);
  }
  cudaMemcpy(a + 1, b + 3, sizeof(int) << 20, cudaMemcpyDeviceToDevice);
  read<<<1, 1>>>(a, 1 << 20, to);
  cudaDeviceSynchronize();
  cudaMemsetAsync(a, 1, elements * sizeof(int), stream);
  read<<<1, 1, 0, stream>>>(a, middle, to);
  write<<<1, 1, 0, other>>>(b, middle, 3);
  cudaDeviceSynchronize();
  write<<<1, 1, 0, other>>>(a, middle, 3);
  for (int i = 0; i < 10; i++) {
    cudaFree(a);
    a = allocate();
    write<<<1, 1>>>(a, middle, 5);
    read<<<1, 1>>>(a, middle, to);
  }
  int *seen;
  cudaMallocManaged(&seen, elements / 2);
  for (size_t i = 0; i < elements / 8; i += 1 << 20) seen[i] = static_cast<int>(i);
  read<<<1, 1>>>(seen, 3 << 20, to);
}

static void do_wrong(int *a, int *b, int *to, cudaStream_t stream, cudaStream_t other) {
  write_after<<<1, 1>>>(a);
  write_before<<<1, 1>>>(b);
  read_unwritten<<<1, 1>>>(a, to);
  race<<<2, 1>>>(a);
  cudaDeviceSynchronize();
  cudaMemsetAsync(b, 0, elements * sizeof(int), stream);
  read_meanwhile<<<1, 1, 0, other>>>(b, to);
  cudaFree(a);
  read_freed<<<1, 1>>>(a, to);
}

int main(int, char **argv) {
  bool is_right = !strcmp(argv[1], "right"), is_all = !strcmp(argv[1], "touch");
  bool is_filled = !strcmp(argv[1], "filled"), has_gap = !strcmp(argv[1], "gap");
  int *to, result = 0;
  cudaMalloc(&to, sizeof *to);
  cudaMemset(to, 0, sizeof *to);
  if (is_all) {
    size_t count = strtoull(argv[2], nullptr, 10) / sizeof(int), step = strtoull(argv[3], nullptr, 10) / sizeof(int);
    int *all;
    if (cudaMalloc(&all, count * sizeof(int))) return 2;
    touch<<<static_cast<unsigned>((count / step + 255) / 256), 256>>>(all, count, step);
  } else if (is_filled || has_gap) {
    int *a;
    if (cudaMalloc(&a, 4 * sizeof(int) * threads * blocks_of_fill)) return 2;
    for (int i = 0; i < 2; i++) fill<<<blocks_of_fill, threads>>>(a, has_gap);
    look_for_others<<<blocks_of_fill, threads>>>(a, to);
  } else {
    int *a = allocate(), *b = allocate();
    cudaStream_t stream, other;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    (is_right ? do_right : do_wrong)(a, b, to, stream, other);
    cudaDeviceSynchronize();
  }
  cudaMemcpy(&result, to, sizeof result, cudaMemcpyDeviceToHost);
  printf("%d\n", result);
  return cudaGetLastError();
}
