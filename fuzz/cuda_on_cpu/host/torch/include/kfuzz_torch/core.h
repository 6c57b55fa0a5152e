// The base of torch's C++: errors and checks, devices, options, lists of sizes, scalars.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../../../include/cuda_on_cpu_host/refusal.h"
#include "scalars.h"

namespace c10 {

struct Error : cuda_on_cpu_host::Refusal {
  using cuda_on_cpu_host::Refusal::Refusal;
  const char *what_without_backtrace() const { return what(); }
  std::string msg() const { return what(); }
};

template <class... Part>
std::string str(const Part &...part) {
  std::ostringstream text;
  (void)(text << ... << part);
  return text.str();
}

// How a host function refuses: with its message, and the line of the check.
[[noreturn]] inline void refuse(int line, const std::string &words) {
  throw Error(line, words.empty() ? "a check failed" : words);
}

template <class T>
using optional = std::optional<T>;
using nullopt_t = std::nullopt_t;
inline constexpr std::nullopt_t nullopt = std::nullopt;

enum class DeviceType : int8_t { CPU, CUDA };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
using DeviceIndex = int8_t;

struct Device {
  Device(DeviceType type, int index = -1) : type_(type), index_(index) {}
  Device(const std::string &name) : type_(name.compare(0, 4, "cuda") ? kCPU : kCUDA), index_(-1) {}
  Device(const char *name) : Device(std::string(name)) {}
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return is_cuda() ? 0 : -1; }
  bool has_index() const { return is_cuda(); }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_cpu() const { return type_ == kCPU; }
  std::string str() const { return is_cuda() ? "cuda:0" : "cpu"; }
  bool operator==(const Device &other) const { return type_ == other.type_; }
  bool operator!=(const Device &other) const { return type_ != other.type_; }

 private:
  DeviceType type_;
  int index_;
};
inline std::ostream &operator<<(std::ostream &out, const Device &device) { return out << device.str(); }
inline std::ostream &operator<<(std::ostream &out, DeviceType type) { return out << (type == kCUDA ? "cuda" : "cpu"); }

template <class T>
class ArrayRef {
 public:
  ArrayRef() = default;
  ArrayRef(std::initializer_list<T> items) : items_(items) {}
  ArrayRef(const T &one) : items_{one} {}
  template <class U>
  ArrayRef(const std::vector<U> &items) : items_(items.begin(), items.end()) {}
  template <class U, size_t n>
  ArrayRef(const std::array<U, n> &items) : items_(items.begin(), items.end()) {}
  ArrayRef(const T *first, size_t count) : items_(first, first + count) {}
  const T &operator[](size_t i) const { return items_.at(i); }
  const T &at(size_t i) const { return items_.at(i); }
  const T &front() const { return items_.front(); }
  const T &back() const { return items_.back(); }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const T *data() const { return items_.data(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::vector<T> vec() const { return items_; }
  ArrayRef slice(size_t from, size_t count) const { return ArrayRef(items_.data() + from, count); }
  bool equals(const ArrayRef &other) const { return items_ == other.items_; }
  bool operator==(const ArrayRef &other) const { return items_ == other.items_; }
  bool operator!=(const ArrayRef &other) const { return items_ != other.items_; }

 private:
  std::vector<T> items_;  // torch's own refers to another object's: a copy outlives that
};
template <class T>
std::ostream &operator<<(std::ostream &out, const ArrayRef<T> &items) {
  out << "[";
  for (size_t i = 0; i < items.size(); i++) out << (i ? ", " : "") << items[i];
  return out << "]";
}
using IntArrayRef = ArrayRef<int64_t>;

struct Scalar {
  double value;
  bool is_integer, is_bool = false;
  Scalar(double number = 0) : value(number), is_integer(false) {}
  Scalar(float number) : Scalar(static_cast<double>(number)) {}
  Scalar(int number) : value(number), is_integer(true) {}
  Scalar(long number) : value(static_cast<double>(number)), is_integer(true) {}
  Scalar(long long number) : value(static_cast<double>(number)), is_integer(true) {}
  Scalar(bool truth) : value(truth), is_integer(true), is_bool(true) {}
  template <class T>
  T to() const { return static_cast<T>(value); }
  double toDouble() const { return value; }
  float toFloat() const { return static_cast<float>(value); }
  int64_t toLong() const { return static_cast<int64_t>(value); }
  int toInt() const { return static_cast<int>(value); }
  bool isFloatingPoint() const { return !is_integer; }
};

struct TypeMeta {
  ScalarType type;
  operator ScalarType() const { return type; }
  ScalarType toScalarType() const { return type; }
  const char *name() const { return toString(type); }
  bool operator==(ScalarType other) const { return type == other; }
  bool operator!=(ScalarType other) const { return type != other; }
};
inline bool operator==(TypeMeta a, TypeMeta b) { return a.type == b.type; }
inline bool operator!=(TypeMeta a, TypeMeta b) { return a.type != b.type; }
inline std::ostream &operator<<(std::ostream &out, TypeMeta type) { return out << type.name(); }

enum class Layout : int8_t { Strided };
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t { Contiguous, Preserve };

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(TypeMeta type) : type_(type.type) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(Device(device)) {}
  TensorOptions dtype(ScalarType type) const { return with([&](TensorOptions &made) { made.type_ = type; }); }
  TensorOptions dtype(TypeMeta type) const { return dtype(type.type); }
  TensorOptions device(Device device) const { return with([&](TensorOptions &made) { made.device_ = device; }); }
  TensorOptions device(DeviceType type, int = 0) const { return device(Device(type)); }
  TensorOptions layout(Layout) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }
  TensorOptions requires_grad(bool = true) const { return *this; }
  TensorOptions pinned_memory(bool) const { return *this; }
  TypeMeta dtype() const { return {type_.value_or(kFloat)}; }
  Device device() const { return device_.value_or(kCPU); }
  bool has_dtype() const { return type_.has_value(); }
  bool has_device() const { return device_.has_value(); }

 private:
  template <class Change>
  TensorOptions with(Change change) const {
    TensorOptions made = *this;
    change(made);
    return made;
  }
  std::optional<ScalarType> type_;
  std::optional<Device> device_;
};
// As torch prints them; macros that check a tensor print its options.
inline std::ostream &operator<<(std::ostream &out, const TensorOptions &options) {
  out << "TensorOptions(dtype=" << options.dtype() << (options.has_dtype() ? "" : " (default)");
  out << ", device=" << options.device() << (options.has_device() ? "" : " (default)");
  return out << ", layout=Strided, requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))";
}

}  // namespace c10

#define TORCH_CHECK(condition, ...)                                        \
  do {                                                                     \
    if (!(condition)) ::c10::refuse(__LINE__, ::c10::str(__VA_ARGS__));     \
  } while (0)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b), #a " == " #b)
#define TORCH_CHECK_ARG(condition, number, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define TORCH_CHECK_VALUE TORCH_CHECK
#define TORCH_CHECK_TYPE TORCH_CHECK
#define TORCH_CHECK_INDEX TORCH_CHECK
#define TORCH_CHECK_NOT_IMPLEMENTED TORCH_CHECK
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition, #condition)
#define AT_ASSERT(condition) TORCH_CHECK(condition, #condition)
#define AT_ASSERTM TORCH_CHECK
#define AT_ERROR(...) ::c10::refuse(__LINE__, ::c10::str(__VA_ARGS__))
#define TORCH_WARN(...) static_cast<void>(0)
#define TORCH_WARN_ONCE(...) static_cast<void>(0)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_RESTRICT __restrict__
#define C10_LAUNCH_BOUNDS_1(...)
#define C10_LAUNCH_BOUNDS_2(...)
#define C10_UNUSED [[maybe_unused]]
#define C10_ALWAYS_INLINE inline
#define C10_LIKELY(condition) (condition)
#define C10_UNLIKELY(condition) (condition)
#define TORCH_API
#define C10_EXPORT
