// Tensors: a place in a storage, sizes and strides. Their arithmetic is in ../../torch/*.cpp, and is not checked.
#pragma once
#include "core.h"

namespace at {

using namespace c10;

struct Storage;  // torch/storage.cpp

// The caller's line, where a number would give a dimension: no number converts to one.
class CallersLine {
 public:
  static constexpr CallersLine here(int line = __builtin_LINE()) { return CallersLine(line); }
  constexpr int number() const { return line_; }

 private:
  constexpr explicit CallersLine(int line) : line_(line) {}
  int line_;
};
#define KFUZZ_TORCH_LINE CallersLine line = CallersLine::here()

struct TypeProperties {
  ScalarType type;
  bool on_cuda;
  ScalarType scalarType() const { return type; }
  bool is_cuda() const { return on_cuda; }
  std::string toString() const { return c10::str(on_cuda ? "CUDA" : "CPU", c10::toString(type), "Type"); }
};

template <class T>
struct DefaultPtrTraits {
  using PtrType = T *;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T *__restrict__;
};

// A tensor as kernels take it: x[i][j].
template <class T, size_t rank, class Index>
class TensorAccessor {
 public:
  C10_HOST_DEVICE TensorAccessor(T *data, const Index *sizes, const Index *strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  C10_HOST_DEVICE auto operator[](Index i) const -> decltype(auto) {
    if constexpr (rank == 1)
      return static_cast<T &>(data_[i * strides_[0]]);
    else
      return TensorAccessor<T, rank - 1, Index>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }
  C10_HOST_DEVICE Index size(Index i) const { return sizes_[i]; }
  C10_HOST_DEVICE Index stride(Index i) const { return strides_[i]; }
  C10_HOST_DEVICE T *data() const { return data_; }

 private:
  T *data_;
  const Index *sizes_, *strides_;
};

template <class T, size_t rank, template <class> class Traits, class Index>
class GenericPackedTensorAccessor {
 public:
  GenericPackedTensorAccessor(T *data, const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides) : data_(data) {
    for (size_t i = 0; i < rank; i++) sizes_[i] = static_cast<Index>(sizes[i]), strides_[i] = static_cast<Index>(strides[i]);
  }
  C10_HOST_DEVICE auto operator[](Index i) const -> decltype(auto) {
    return TensorAccessor<T, rank, Index>(data_, sizes_, strides_)[i];
  }
  C10_HOST_DEVICE Index size(Index i) const { return sizes_[i]; }
  C10_HOST_DEVICE Index stride(Index i) const { return strides_[i]; }
  C10_HOST_DEVICE T *data() const { return data_; }

 private:
  T *data_;
  Index sizes_[rank], strides_[rank];
};
template <class T, size_t rank, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, rank, Traits, int32_t>;
template <class T, size_t rank, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, rank, Traits, int64_t>;
template <class T, size_t rank, template <class> class Traits = DefaultPtrTraits, class Index = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, rank, Traits, Index>;

// Functions of single numbers.
#define KFUZZ_TORCH_FUNCTIONS(X) X(relu) X(abs) X(neg) X(exp) X(log) X(sqrt) X(rsqrt) X(tanh) X(sigmoid) X(reciprocal)

class Tensor {
 public:
  Tensor() = default;
  Tensor(std::shared_ptr<Storage> storage, ScalarType type, std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset);

  bool defined() const { return static_cast<bool>(storage_); }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  int64_t size(int64_t i) const { return sizes_[place_of(i)]; }
  int64_t stride(int64_t i) const { return strides_[place_of(i)]; }
  int64_t storage_offset() const { return offset_; }
  int64_t numel() const;
  size_t element_size() const { return elementSize(type_); }
  size_t itemsize() const { return element_size(); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * element_size(); }
  ScalarType scalar_type() const { return type_; }
  TypeMeta dtype() const { return {type_}; }
  TypeProperties type() const { return {type_, is_cuda()}; }
  Device device() const;
  DeviceIndex get_device() const { return device().index(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_cpu() const { return !is_cuda(); }
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const;
  bool is_floating_point() const { return isFloatingType(type_); }
  bool is_same(const Tensor &other) const { return storage_ == other.storage_ && offset_ == other.offset_; }
  bool requires_grad() const { return false; }
  Tensor set_requires_grad(bool) const { return *this; }
  template <class Stream>
  void record_stream(const Stream &) const {}  // freed memory is not given out again
  TensorOptions options() const { return TensorOptions(type_).device(device()); }

  void *data_ptr() const;
  template <class T>
  T *data_ptr() const { return static_cast<T *>(checked_data(CppTypeToScalarType<std::remove_cv_t<T>>::value)); }
  template <class T>
  T *data() const { return data_ptr<T>(); }
  template <class T>
  T *mutable_data_ptr() const { return data_ptr<T>(); }
  template <class T>
  const T *const_data_ptr() const { return data_ptr<std::remove_const_t<T>>(); }
  void *mutable_data_ptr() const { return data_ptr(); }
  const void *const_data_ptr() const { return data_ptr(); }
  template <class T, size_t rank, template <class> class Traits = DefaultPtrTraits, class Index = int64_t>
  GenericPackedTensorAccessor<T, rank, Traits, Index> packed_accessor() const {
    check_rank(rank);
    return {data_ptr<T>(), sizes_, strides_};
  }
  template <class T, size_t rank, template <class> class Traits = DefaultPtrTraits>
  auto packed_accessor32() const { return packed_accessor<T, rank, Traits, int32_t>(); }
  template <class T, size_t rank, template <class> class Traits = DefaultPtrTraits>
  auto packed_accessor64() const { return packed_accessor<T, rank, Traits, int64_t>(); }
  template <class T, size_t rank>
  TensorAccessor<T, rank, int64_t> accessor() const {
    check_rank(rank);
    return {data_ptr<T>(), sizes_.data(), strides_.data()};
  }
  template <class T, size_t rank>
  auto generic_packed_accessor() const { return packed_accessor<T, rank>(); }
  template <class T>
  T item() const { return static_cast<T>(number()); }
  Scalar item() const { return Scalar(number()); }

  // The same numbers, elsewhere.
  Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous, CUDA_ON_CPU_LINE) const;
  Tensor clone(CUDA_ON_CPU_LINE) const;
  Tensor detach() const { return *this; }
  Tensor to(ScalarType type, CUDA_ON_CPU_LINE) const;
  Tensor to(TypeMeta type, CUDA_ON_CPU_LINE) const { return to(type.type, line); }
  Tensor to(const Device &device, CUDA_ON_CPU_LINE) const;
  Tensor to(DeviceType device, CUDA_ON_CPU_LINE) const { return to(Device(device), line); }
  Tensor to(const TensorOptions &options, CUDA_ON_CPU_LINE) const {
    Tensor typed = options.has_dtype() ? to(options.dtype().type, line) : *this;
    return options.has_device() ? typed.to(options.device(), line) : typed;
  }
  Tensor cuda(CUDA_ON_CPU_LINE) const { return to(Device(kCUDA), line); }
  Tensor cpu(CUDA_ON_CPU_LINE) const { return to(Device(kCPU), line); }
  Tensor to_type(ScalarType type) const { return to(type); }
  Tensor toType(ScalarType type) const { return to(type); }

  // Views of them.
  Tensor view(IntArrayRef sizes) const;
  Tensor reshape(IntArrayRef sizes, CUDA_ON_CPU_LINE) const;
  Tensor view_as(const Tensor &other) const { return view(other.sizes()); }
  Tensor flatten(int64_t from = 0, int64_t to = -1, CUDA_ON_CPU_LINE) const;
  Tensor transpose(int64_t a, int64_t b) const;
  Tensor t() const;
  Tensor permute(IntArrayRef order) const;
  Tensor unsqueeze(int64_t at) const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t at) const;
  Tensor expand(IntArrayRef sizes) const;
  Tensor as_strided(IntArrayRef sizes, IntArrayRef strides) const { return {storage_, type_, sizes.vec(), strides.vec(), offset_}; }
  Tensor expand_as(const Tensor &other) const { return expand(other.sizes()); }
  Tensor narrow(int64_t along, int64_t start, int64_t length) const;
  Tensor slice(int64_t along, int64_t start, int64_t end, int64_t step = 1) const;
  Tensor select(int64_t along, int64_t index) const;
  Tensor operator[](int64_t index) const { return select(0, index); }

  // Arithmetic, as far as hosts of kernels do it: in double, rounded once to the result's type.
  const Tensor &copy_(const Tensor &from) const;
  const Tensor &fill_(const Scalar &value) const;
  const Tensor &zero_() const { return fill_(0); }
  Tensor add(const Tensor &other, CUDA_ON_CPU_LINE) const;
  Tensor sub(const Tensor &other, CUDA_ON_CPU_LINE) const;
  Tensor mul(const Tensor &other, CUDA_ON_CPU_LINE) const;
  Tensor div(const Tensor &other, CUDA_ON_CPU_LINE) const;
  Tensor add(const Scalar &other, CUDA_ON_CPU_LINE) const;
  Tensor sub(const Scalar &other, CUDA_ON_CPU_LINE) const;
  Tensor mul(const Scalar &other, CUDA_ON_CPU_LINE) const;
  Tensor div(const Scalar &other, CUDA_ON_CPU_LINE) const;
  const Tensor &add_(const Tensor &other) const { return copy_(add(other)); }
  const Tensor &sub_(const Tensor &other) const { return copy_(sub(other)); }
  const Tensor &mul_(const Tensor &other) const { return copy_(mul(other)); }
  const Tensor &div_(const Tensor &other) const { return copy_(div(other)); }
  const Tensor &add_(const Scalar &other) const { return copy_(add(other)); }
  const Tensor &sub_(const Scalar &other) const { return copy_(sub(other)); }
  const Tensor &mul_(const Scalar &other) const { return copy_(mul(other)); }
  const Tensor &div_(const Scalar &other) const { return copy_(div(other)); }
  Tensor sum(KFUZZ_TORCH_LINE) const;
  Tensor sum(int64_t along, bool keep = false, CUDA_ON_CPU_LINE) const;
  Tensor mean(KFUZZ_TORCH_LINE) const { return sum(line).div(static_cast<double>(numel()), line.number()); }
  Tensor mean(int64_t along, bool keep = false, CUDA_ON_CPU_LINE) const {
    return sum(along, keep, line).div(static_cast<double>(size(along)), line);
  }
#define KFUZZ_TORCH_FUNCTION(name) Tensor name(KFUZZ_TORCH_LINE) const;
  KFUZZ_TORCH_FUNCTIONS(KFUZZ_TORCH_FUNCTION)
#undef KFUZZ_TORCH_FUNCTION
  const Tensor &relu_(KFUZZ_TORCH_LINE) const { return copy_(relu(line)); }
  Tensor operator-() const { return neg(); }
  Tensor matmul(const Tensor &other, CUDA_ON_CPU_LINE) const;
  Tensor mm(const Tensor &other, CUDA_ON_CPU_LINE) const { return matmul(other, line); }
  Tensor bmm(const Tensor &other, CUDA_ON_CPU_LINE) const { return matmul(other, line); }
  Tensor cumsum(int64_t along, CUDA_ON_CPU_LINE) const;
  Tensor softmax(int64_t along, CUDA_ON_CPU_LINE) const;
  Tensor max(KFUZZ_TORCH_LINE) const;
  Tensor min(KFUZZ_TORCH_LINE) const;

 private:
  size_t wrapped(int64_t i) const;
  size_t place_of(int64_t i) const;
  void *checked_data(ScalarType wanted) const;
  void check_rank(size_t wanted) const;
  double number() const;

  std::shared_ptr<Storage> storage_;
  ScalarType type_ = ScalarType::Undefined;
  std::vector<int64_t> sizes_, strides_;
  int64_t offset_ = 0;
};
using TensorList = ArrayRef<Tensor>;

Tensor empty(IntArrayRef sizes, const TensorOptions &options = {}, CUDA_ON_CPU_LINE);
Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions &options = {}, CUDA_ON_CPU_LINE);
Tensor full(IntArrayRef sizes, const Scalar &value, const TensorOptions &options = {}, CUDA_ON_CPU_LINE);
Tensor tensor(const Scalar &value, const TensorOptions &options = {}, CUDA_ON_CPU_LINE);
Tensor tensor_of(const std::vector<Scalar> &values, const TensorOptions &options, int line);
template <class T>
Tensor tensor(const std::vector<T> &values, const TensorOptions &options = {}, CUDA_ON_CPU_LINE) {
  return tensor_of({values.begin(), values.end()}, options, line);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions &options = {}, CUDA_ON_CPU_LINE) {
  return tensor_of({values.begin(), values.end()}, options, line);
}
template <class T>
Tensor tensor(const ArrayRef<T> &values, const TensorOptions &options = {}, CUDA_ON_CPU_LINE) {
  return tensor_of({values.begin(), values.end()}, options, line);
}
Tensor arange(const Scalar &end, const TensorOptions &options = {}, CUDA_ON_CPU_LINE);
Tensor cat(const std::vector<Tensor> &parts, int64_t along = 0, CUDA_ON_CPU_LINE);
Tensor stack(const std::vector<Tensor> &parts, int64_t along = 0, CUDA_ON_CPU_LINE);
Tensor from_device(void *data, ScalarType type, IntArrayRef sizes, IntArrayRef strides, int64_t offset);  // of memory that is somebody else's
Tensor zeros(IntArrayRef sizes, const TensorOptions &options = {}, CUDA_ON_CPU_LINE);
Tensor ones(IntArrayRef sizes, const TensorOptions &options = {}, CUDA_ON_CPU_LINE);
Tensor empty_like(const Tensor &x, const TensorOptions &options, CUDA_ON_CPU_LINE);
inline Tensor empty_like(const Tensor &x, CUDA_ON_CPU_LINE) { return empty_like(x, x.options(), line); }
inline Tensor full_like(const Tensor &x, const Scalar &value, const TensorOptions &options, CUDA_ON_CPU_LINE) {
  return empty_like(x, options, line).fill_(value);
}
inline Tensor full_like(const Tensor &x, const Scalar &value, CUDA_ON_CPU_LINE) { return full_like(x, value, x.options(), line); }
inline Tensor zeros_like(const Tensor &x, CUDA_ON_CPU_LINE) { return full_like(x, 0, x.options(), line); }
inline Tensor zeros_like(const Tensor &x, const TensorOptions &options, CUDA_ON_CPU_LINE) { return full_like(x, 0, options, line); }
inline Tensor ones_like(const Tensor &x, CUDA_ON_CPU_LINE) { return full_like(x, 1, x.options(), line); }
inline Tensor ones_like(const Tensor &x, const TensorOptions &options, CUDA_ON_CPU_LINE) { return full_like(x, 1, options, line); }
inline Tensor sum(const Tensor &x, KFUZZ_TORCH_LINE) { return x.sum(line); }
inline Tensor sum(const Tensor &x, int64_t along, bool keep = false, CUDA_ON_CPU_LINE) { return x.sum(along, keep, line); }
inline Tensor mean(const Tensor &x, KFUZZ_TORCH_LINE) { return x.mean(line); }
inline Tensor mean(const Tensor &x, int64_t along, bool keep = false, CUDA_ON_CPU_LINE) { return x.mean(along, keep, line); }
inline Tensor cumsum(const Tensor &x, int64_t along, CUDA_ON_CPU_LINE) { return x.cumsum(along, line); }
inline Tensor softmax(const Tensor &x, int64_t along, CUDA_ON_CPU_LINE) { return x.softmax(along, line); }
#define KFUZZ_TORCH_FUNCTION(name) \
  inline Tensor name(const Tensor &x, KFUZZ_TORCH_LINE) { return x.name(line); }
KFUZZ_TORCH_FUNCTIONS(KFUZZ_TORCH_FUNCTION)
#undef KFUZZ_TORCH_FUNCTION
inline Tensor matmul(const Tensor &a, const Tensor &b, CUDA_ON_CPU_LINE) { return a.matmul(b, line); }
inline Tensor mm(const Tensor &a, const Tensor &b, CUDA_ON_CPU_LINE) { return a.matmul(b, line); }
inline Tensor bmm(const Tensor &a, const Tensor &b, CUDA_ON_CPU_LINE) { return a.matmul(b, line); }
inline Tensor scalar_tensor(const Scalar &value, const TensorOptions &options = {}, CUDA_ON_CPU_LINE) { return full({}, value, options, line); }
Tensor linear(const Tensor &x, const Tensor &weight, const std::optional<Tensor> &bias = {}, CUDA_ON_CPU_LINE);
Tensor constant_pad_nd(const Tensor &x, IntArrayRef pad, const Scalar &value = 0, CUDA_ON_CPU_LINE);
#define KFUZZ_TORCH_CONVOLUTION(axes)                                                                                      \
  Tensor conv##axes##d(const Tensor &x, const Tensor &weight, const std::optional<Tensor> &bias = {},                      \
                       IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1,      \
                       CUDA_ON_CPU_LINE);                                                                                  \
  Tensor conv_transpose##axes##d(const Tensor &x, const Tensor &weight, const std::optional<Tensor> &bias = {},            \
                                 IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0,          \
                                 int64_t groups = 1, IntArrayRef dilation = 1, CUDA_ON_CPU_LINE);
KFUZZ_TORCH_CONVOLUTION(1)
KFUZZ_TORCH_CONVOLUTION(2)
KFUZZ_TORCH_CONVOLUTION(3)
#undef KFUZZ_TORCH_CONVOLUTION
inline Tensor transpose(const Tensor &x, int64_t a, int64_t b) { return x.transpose(a, b); }
inline Tensor operator+(const Tensor &a, const Tensor &b) { return a.add(b); }
inline Tensor operator-(const Tensor &a, const Tensor &b) { return a.sub(b); }
inline Tensor operator*(const Tensor &a, const Tensor &b) { return a.mul(b); }
inline Tensor operator/(const Tensor &a, const Tensor &b) { return a.div(b); }
inline Tensor operator+(const Tensor &a, const Scalar &b) { return a.add(b); }
inline Tensor operator-(const Tensor &a, const Scalar &b) { return a.sub(b); }
inline Tensor operator*(const Tensor &a, const Scalar &b) { return a.mul(b); }
inline Tensor operator*(const Scalar &a, const Tensor &b) { return b.mul(a); }
inline Tensor operator+(const Scalar &a, const Tensor &b) { return b.add(a); }
inline Tensor operator-(const Scalar &a, const Tensor &b) { return b.neg().add(a); }
inline Tensor operator/(const Scalar &a, const Tensor &b) { return full_like(b, a).div(b); }
inline Tensor operator/(const Tensor &a, const Scalar &b) { return a.div(b); }
inline const Tensor &operator+=(const Tensor &a, const Tensor &b) { return a.add_(b); }
inline const Tensor &operator-=(const Tensor &a, const Tensor &b) { return a.sub_(b); }
inline const Tensor &operator*=(const Tensor &a, const Tensor &b) { return a.mul_(b); }
inline const Tensor &operator/=(const Tensor &a, const Tensor &b) { return a.div_(b); }
inline const Tensor &operator+=(const Tensor &a, const Scalar &b) { return a.add_(b); }
inline const Tensor &operator-=(const Tensor &a, const Scalar &b) { return a.sub_(b); }
inline const Tensor &operator*=(const Tensor &a, const Scalar &b) { return a.mul_(b); }
inline const Tensor &operator/=(const Tensor &a, const Scalar &b) { return a.div_(b); }

}  // namespace at
