// Arguments that own device memory, or a lock, and are handed to kernels by value: the host alone copies and destroys them.
// bug: race
#include <cstdio>

template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count), is_owner_(true) { cudaMalloc(&data_, count * sizeof(T)); }
  Buffer(const Buffer &other) : data_(other.data_), count_(other.count_), is_owner_(false) {}
  ~Buffer() {
    if (is_owner_) cudaFree(data_);
  }
  __host__ __device__ size_t size() const { return count_; }
  __device__ T &operator[](size_t i) const { return data_[i]; }
  T *get() const { return data_; }

 private:
  T *data_ = nullptr;
  size_t count_;
  bool is_owner_;
};

template <class T>
__global__ void fill(Buffer<T> y, T value) {
  for (size_t i = threadIdx.x; i < y.size(); i += blockDim.x) y[i] = value;
}

// Its destructor frees the mutex after each launch: cudaFree waits for the kernel, and what is freed twice is an error that
// nobody asks for.
struct Lock {
  int *mutex;
  Lock() {
    cudaMalloc((void **)&mutex, sizeof(int));
    cudaMemset(mutex, 0, sizeof(int));
  }
  ~Lock() { cudaFree(mutex); }
  __device__ void lock() {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  __device__ void unlock() {
    __threadfence();
    atomicExch(mutex, 0);
  }
};

__global__ void dot(Lock lock, const Buffer<float> a, const Buffer<float> b, float *c) {
  __shared__ float part[64];
  float own = 0;
  for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < a.size(); i += blockDim.x * gridDim.x) own += a[i] * b[i];
  part[threadIdx.x] = own;
  for (int half = blockDim.x / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) {
#ifndef BUG
    lock.lock();
#endif
    *c += part[0];
#ifndef BUG
    lock.unlock();
#endif
  }
}

struct Counted {
  int *copies;
  float value;
  Counted(int *copies, float value) : copies(copies), value(value) {}
  Counted(const Counted &other) : copies(other.copies), value(other.value) { ++*copies; }
};
__global__ void take(Counted given, float *to) { to[threadIdx.x] = given.value; }

int main() {
  Buffer<float> x(1000), y(1000), c(1);
  fill<<<1, 32>>>(x, 2.f);
  fill<float><<<1, 32>>>(y, 3.f);
  cudaMemset(c.get(), 0, sizeof(float));
  dot<<<4, 64>>>(Lock(), x, y, c.get());
  float result;
  cudaMemcpy(&result, c.get(), sizeof result, cudaMemcpyDeviceToHost);
  int copies = 0;
  take<<<1, 64>>>(Counted(&copies, 5), x.get());
  cudaMemcpy(&result, x.get(), sizeof result, cudaMemcpyDeviceToHost);
  printf("%g\n", result);
  return copies < 8 && result == 5 ? 0 : 1;
}
