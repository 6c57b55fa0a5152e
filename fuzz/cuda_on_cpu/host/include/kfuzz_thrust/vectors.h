// device_vector, host_vector, and universal_vector in managed memory.
#pragma once
#include "memory.h"

namespace thrust {

template <class T, class Allocator = std::allocator<T>>
class host_vector;

template <class T, class Allocator = void>
class device_vector {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = device_ptr<T>;
  using const_iterator = device_ptr<const T>;
  using pointer = device_ptr<T>;
  using reference = device_reference<T>;

  device_vector() = default;
  explicit device_vector(size_t count, details::Caller line = {__builtin_LINE()}) { fill_with(count, T(), line); }
  device_vector(size_t count, const T &value, details::Caller line = {__builtin_LINE()}) { fill_with(count, value, line); }
  device_vector(const device_vector &other, details::Caller line = {__builtin_LINE()}) { take(other.begin(), other.size(), line); }
  device_vector(device_vector &&other) noexcept { swap(other); }
  template <class A>
  device_vector(const std::vector<T, A> &other, details::Caller line = {__builtin_LINE()}) { take(other.data(), other.size(), line); }
  template <class A>
  device_vector(const host_vector<T, A> &other, details::Caller line = {__builtin_LINE()}) { take(other.data(), other.size(), line); }
  device_vector(std::initializer_list<T> values, details::Caller line = {__builtin_LINE()}) { take(values.begin(), values.size(), line); }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
  device_vector(Iterator first, Iterator last, details::Caller line = {__builtin_LINE()}) { assign(first, last, line); }
  ~device_vector() { release(0); }

  device_vector &operator=(const device_vector &other) {
    if (this != &other) replace(other.begin(), other.size());
    return *this;
  }
  device_vector &operator=(device_vector &&other) noexcept {
    swap(other);
    return *this;
  }
  template <class A>
  device_vector &operator=(const host_vector<T, A> &other) { return replace(other.data(), other.size()), *this; }
  template <class A>
  device_vector &operator=(const std::vector<T, A> &other) { return replace(other.data(), other.size()), *this; }

  template <class Iterator>
  void assign(Iterator first, Iterator last, details::Caller line = {__builtin_LINE()}) {
    if constexpr (details::Place<Iterator>::on_device) {
      take(first, static_cast<size_t>(last - first), line);
    } else {
      std::vector<T> values(first, last);
      take(values.data(), values.size(), line);
    }
  }
  void assign(size_t count, const T &value, details::Caller line = {__builtin_LINE()}) { fill_with(count, value, line); }
  void resize(size_t count, details::Caller line = {__builtin_LINE()}) { resize(count, T(), line); }
  template <class U, class = std::enable_if_t<!std::is_same_v<U, details::Policy>>>
  void resize(size_t count, const U &value, details::Caller line = {__builtin_LINE()}) {
    if (count == size_) return;
    device_vector made;
    made.fill_with(count, static_cast<T>(value), line);
    size_t kept = count < size_ ? count : size_;
    if (kept) cudaMemcpy(made.data_, data_, kept * sizeof(T), cudaMemcpyDeviceToDevice, line);
    swap(made);
  }
  void reserve(size_t) {}
  void shrink_to_fit() {}
  void clear() { release(0); }
  void push_back(const T &value, details::Caller line = {__builtin_LINE()}) { resize(size_ + 1, value, line); }
  iterator erase(iterator at) { return erase(at, at + 1); }
  iterator erase(iterator first, iterator last) { return replace_part(first, last, std::vector<T>()); }
  iterator insert(iterator at, const T &value) { return replace_part(at, at, std::vector<T>{value}); }
  template <class Iterator>
  void insert(iterator at, Iterator first, Iterator last) { replace_part(at, at, host_vector<T>(first, last)); }
  void pop_back() { resize(size_ - 1); }
  void swap(device_vector &other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  size_t size() const { return size_; }
  size_t capacity() const { return size_; }
  bool empty() const { return !size_; }
  pointer data() { return pointer(data_); }
  device_ptr<const T> data() const { return device_ptr<const T>(data_); }
  iterator begin() { return iterator(data_); }
  iterator end() { return iterator(data_ + size_); }
  const_iterator begin() const { return const_iterator(data_); }
  const_iterator end() const { return const_iterator(data_ + size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reference operator[](size_t i) { return reference(data_ + i); }
  T operator[](size_t i) const { return device_reference<const T>(data_ + i); }
  reference front() { return (*this)[0]; }
  reference back() { return (*this)[size_ - 1]; }
  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size_ - 1]; }

 private:
  void allocate(size_t count, int line) {
    release(line);
    if (count && cudaMalloc(&data_, count * sizeof(T), line) != cudaSuccess) throw std::bad_alloc();
    size_ = count;
  }
  void release(int line) {
    if (data_) cudaFree(data_, line);
    data_ = nullptr;
    size_ = 0;
  }
  template <class From>
  void take(From from, size_t count, int line) {
    allocate(count, line);
    if (count) cudaMemcpy(data_, details::raw(from), count * sizeof(T), cudaMemcpyDefault, line);
    cudaDeviceSynchronize();
  }
  iterator replace_part(iterator first, iterator last, const std::vector<T> &with) {
    std::vector<T> all(size_);
    ptrdiff_t low = first - begin(), high = last - begin();
    if (size_) cudaMemcpy(all.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    all.erase(all.begin() + low, all.begin() + high);
    all.insert(all.begin() + low, with.begin(), with.end());
    *this = all;
    return begin() + low;
  }
  template <class From>
  void replace(From from, size_t count) {
    if (count != size_) return take(from, count, 0);
    if (count) cudaMemcpy(data_, details::raw(from), count * sizeof(T), cudaMemcpyDefault);
    cudaDeviceSynchronize();
  }
  void fill_with(size_t count, const T &value, int line) {
    allocate(count, line);
    details::for_each_index(device, count, line, [to = data_, value](size_t i) { to[i] = value; });
  }

  T *data_ = nullptr;
  size_t size_ = 0;
};

template <class T, class Allocator>
class host_vector : public std::vector<T, Allocator> {
 public:
  using std::vector<T, Allocator>::vector;
  host_vector() = default;
  template <class A>
  host_vector(const std::vector<T, A> &other) : std::vector<T, Allocator>(other.begin(), other.end()) {}
  host_vector(const device_vector<T> &other) { *this = other; }
  template <class U>
  host_vector(device_ptr<U> first, device_ptr<U> last) : std::vector<T, Allocator>(static_cast<size_t>(last - first)) {
    cudaMemcpy(this->data(), first.get(), this->size() * sizeof(T), cudaMemcpyDeviceToHost);
  }
  host_vector &operator=(const device_vector<T> &other) {
    this->resize(other.size());
    if (!this->empty()) cudaMemcpy(this->data(), raw_pointer_cast(other.data()), this->size() * sizeof(T), cudaMemcpyDeviceToHost);
    return *this;
  }
};

template <class T>
struct universal_allocator {
  using value_type = T;
  T *allocate(size_t count) {
    T *at = nullptr;
    if (cudaMallocManaged(&at, count * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
    return at;
  }
  void deallocate(T *at, size_t) { cudaFree(at); }
  friend bool operator==(universal_allocator, universal_allocator) { return true; }
  friend bool operator!=(universal_allocator, universal_allocator) { return false; }
};
template <class T>
using universal_vector = host_vector<T, universal_allocator<T>>;
namespace details {
template <class T, class U>
struct Place<__gnu_cxx::__normal_iterator<T *, std::vector<U, universal_allocator<U>>>> : Place<device_ptr<T>> {};
template <class T, class U>
T *raw(__gnu_cxx::__normal_iterator<T *, std::vector<U, universal_allocator<U>>> at) { return at.base(); }
}  // namespace details

template <class T>
bool operator==(const device_vector<T> &a, const host_vector<T> &b) {
  return host_vector<T>(a) == b;
}
template <class T>
bool operator==(const host_vector<T> &a, const device_vector<T> &b) {
  return b == a;
}
template <class T>
bool operator==(const device_vector<T> &a, const device_vector<T> &b) {
  return host_vector<T>(a) == host_vector<T>(b);
}
template <class T>
bool operator!=(const device_vector<T> &a, const device_vector<T> &b) {
  return !(a == b);
}

}  // namespace thrust
