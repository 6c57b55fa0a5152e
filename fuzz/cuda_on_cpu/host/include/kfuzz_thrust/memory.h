// Pointers to device memory, and their targets as the host sees them.
#pragma once
#include "../cuda_on_cpu_host/api_templates.h"
#include "../cuda_on_cpu_host/launching.h"

CUDA_ON_CPU_IMPORT bool cuda_on_cpu_is_on_host();

namespace thrust {

template <class T>
class device_ptr;

// An element on the device: the host reads and writes it by copies.
template <class T>
class device_reference {
 public:
  explicit device_reference(T *at) : at_(at) {}
  device_ptr<T> operator&() const { return device_ptr<T>(at_); }
  operator T() const {
    if (!cuda_on_cpu_is_on_host()) return *at_;
    T value;
    cudaMemcpy(&value, at_, sizeof value, cudaMemcpyDeviceToHost);
    return value;
  }
  device_reference &operator=(const T &value) {
    if (cuda_on_cpu_is_on_host())
      cudaMemcpy(at_, &value, sizeof value, cudaMemcpyHostToDevice);
    else
      *at_ = value;
    return *this;
  }
  device_reference &operator=(const device_reference &other) { return *this = static_cast<T>(other); }
  device_reference &operator+=(const T &value) { return *this = static_cast<T>(*this) + value; }
  device_reference &operator-=(const T &value) { return *this = static_cast<T>(*this) - value; }
  device_reference &operator*=(const T &value) { return *this = static_cast<T>(*this) * value; }
  device_reference &operator++() { return *this += T(1); }
  device_reference &operator--() { return *this -= T(1); }
  T operator++(int) { return ++*this - T(1); }
  T operator--(int) { return --*this + T(1); }
  friend void swap(device_reference a, device_reference b) {
    T value = a;
    a = b;
    b = value;
  }

 private:
  T *at_;
};

template <class T>
class device_ptr {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_cv_t<T>;
  using difference_type = ptrdiff_t;
  using pointer = device_ptr;
  using reference = device_reference<T>;

  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  explicit device_ptr(T *at) : at_(at) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U *, T *>>>
  device_ptr(const device_ptr<U> &other) : at_(other.get()) {}
  T *get() const { return at_; }
  reference operator*() const { return reference(at_); }
  reference operator[](difference_type i) const { return reference(at_ + i); }
  explicit operator bool() const { return at_; }
  device_ptr &operator+=(difference_type n) { return at_ += n, *this; }
  device_ptr &operator-=(difference_type n) { return at_ -= n, *this; }
  device_ptr &operator++() { return *this += 1; }
  device_ptr &operator--() { return *this -= 1; }
  device_ptr operator++(int) { return device_ptr(at_++); }
  device_ptr operator--(int) { return device_ptr(at_--); }
  friend device_ptr operator+(device_ptr p, difference_type n) { return p += n; }
  friend device_ptr operator+(difference_type n, device_ptr p) { return p += n; }
  friend device_ptr operator-(device_ptr p, difference_type n) { return p -= n; }
  friend difference_type operator-(device_ptr p, device_ptr q) { return p.at_ - q.at_; }
  friend bool operator==(device_ptr p, device_ptr q) { return p.at_ == q.at_; }
  friend bool operator!=(device_ptr p, device_ptr q) { return p.at_ != q.at_; }
  friend bool operator<(device_ptr p, device_ptr q) { return p.at_ < q.at_; }

 private:
  T *at_ = nullptr;
};

template <class T>
device_ptr<T> device_pointer_cast(T *at) { return device_ptr<T>(at); }
template <class T>
device_ptr<T> device_pointer_cast(const device_ptr<T> &at) { return at; }
template <class T>
T *raw_pointer_cast(const device_ptr<T> &at) { return at.get(); }
template <class T>
T *raw_pointer_cast(T *at) { return at; }
template <class T>
T &raw_reference_cast(T &value) { return value; }

template <class T>
device_ptr<T> device_malloc(size_t count, CUDA_ON_CPU_LINE) {
  T *at = nullptr;
  if (cudaMalloc(&at, count * sizeof(T), line) != cudaSuccess) throw std::bad_alloc();
  return device_ptr<T>(at);
}
template <class T>
void device_free(device_ptr<T> at, CUDA_ON_CPU_LINE) { cudaFree(const_cast<std::remove_cv_t<T> *>(at.get()), line); }

namespace details {

// The line of a call of an algorithm, in its own type: an int argument cannot be taken for one.
struct Caller {
  int line;
  operator int() const { return line; }
};

// Where an algorithm runs: its stream, and whether it waits.
struct Policy {
  bool on_device;
  cudaStream_t stream;
  bool waits = true;
};

struct OnDevice : Policy {
  constexpr OnDevice() : Policy{true, nullptr} {}
};
struct OnHost : Policy {
  constexpr OnHost() : Policy{false, nullptr} {}
};
struct Par : OnDevice {
  OnDevice on(cudaStream_t stream) const { return with(stream, true); }

 protected:
  static OnDevice with(cudaStream_t stream, bool waits) {
    OnDevice made;
    made.stream = stream;
    made.waits = waits;
    return made;
  }
};
struct ParNoSync : Par {
  OnDevice on(cudaStream_t stream) const { return with(stream, false); }
};

template <class T>
constexpr bool is_policy = std::is_base_of_v<Policy, std::decay_t<T>>;

// Whether an iterator is over device memory, and what a kernel iterates over instead.
template <class Iterator, class = void>
struct Place {
  static constexpr bool on_device = false;
};
template <class T>
struct Place<device_ptr<T>> {
  static constexpr bool on_device = true;
};

template <class Iterator>
Iterator raw(Iterator it) { return it; }
template <class T>
T *raw(device_ptr<T> at) { return at.get(); }

// `body(i)` for each i, in a thread each.
template <class Body>
void for_each_index(const Policy &policy, size_t count, int line, Body body) {
  constexpr unsigned int threads = 256;
  if (!count) return;
  auto kernel = [](auto own, size_t n) {  // each thread gets its own copy
    size_t i = static_cast<size_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < n) own(i);
  };
  cuda_on_cpu::Launch(line, static_cast<unsigned int>((count + threads - 1) / threads), threads, 0, policy.stream).of(0, kernel)(body, count);
  if (policy.waits) cudaStreamSynchronize(policy.stream);
}

// `body()` by one thread; its result comes back to the host.
template <class T, class Body>
T in_order(const Policy &policy, int line, Body body) {
  T *there = nullptr, here{};
  cudaMalloc(&there, sizeof(T), line);
  cuda_on_cpu::Launch(line, 1, 1, 0, policy.stream).of(0, [](auto own, T *to) { *to = own(); })(body, there);
  cudaMemcpyAsync(&here, there, sizeof(T), cudaMemcpyDeviceToHost, policy.stream, line);
  cudaFree(there, line);
  return here;
}
template <class Body>
void by_one(const Policy &policy, int line, Body body) {
  cuda_on_cpu::Launch(line, 1, 1, 0, policy.stream).of(0, [](auto own) { own(); })(body);
  if (policy.waits) cudaStreamSynchronize(policy.stream);
}

}  // namespace details

constexpr details::OnDevice device;
constexpr details::OnHost host, seq;
namespace cuda {
const details::Par par;
const details::ParNoSync par_nosync;
}  // namespace cuda

}  // namespace thrust
