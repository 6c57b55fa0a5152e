// Host-side arithmetic of tensors: element by element in double, rounded once.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "storage.h"

namespace at {

namespace {

// A number as an element: a boolean lies in a byte, and a number that exceeds a byte is truncated like an integer.
template <class T>
T rounded(double value) {
  if constexpr (c10::CppTypeToScalarType<T>::value == ScalarType::Byte)
    return static_cast<uint8_t>(static_cast<int64_t>(value));
  else if constexpr (std::is_class_v<T>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

template <class T>
double load_one(const char *at) {
  using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  Stored value;
  memcpy(&value, at, sizeof value);
  return std::is_same_v<T, bool> ? static_cast<double>(value) != 0 : static_cast<double>(value);
}

template <class T>
void store_one(char *at, double value) {
  T made = rounded<T>(value);
  memcpy(at, &made, sizeof made);
}

double load(const char *at, ScalarType type) {
  switch (type) {
#define KFUZZ_TORCH_LOAD(name, cpp, number, kind) \
  case ScalarType::name: return load_one<cpp>(at);
    KFUZZ_TORCH_ELEMENTS(KFUZZ_TORCH_LOAD)
    default: throw Error(c10::str("kfuzz computes nothing in ", type));
  }
}

void store(char *at, ScalarType type, double value) {
  switch (type) {
#define KFUZZ_TORCH_STORE(name, cpp, number, kind) \
  case ScalarType::name: return store_one<cpp>(at, value);
    KFUZZ_TORCH_ELEMENTS(KFUZZ_TORCH_STORE)
    default: throw Error(c10::str("kfuzz computes nothing in ", type));
  }
}

// Calls `set` for each element, with its place and its number in row order.
template <class Set>
void each_of(const Tensor &to, Set set) {
  if (holds_nothing(to)) return;
  Reached reached(to, true);
  for (int64_t i = 0; i < to.numel(); i++) set(reached.data() + place_of(to, i), i);
}

template <class Made>
void fill_by(const Tensor &to, Made made) {
  each_of(to, [&](char *at, int64_t i) { store(at, to.scalar_type(), made(i)); });
}

// The numbers of a tensor, in row order.
class Numbers {
 public:
  explicit Numbers(const Tensor &x) : x_(x), reached_(x, false) {}
  const char *at(int64_t i) const { return reached_.data() + place_of(x_, i); }
  double operator[](int64_t i) const { return load(at(i), x_.scalar_type()); }

 private:
  const Tensor &x_;
  Reached reached_;
};

ScalarType common(const Tensor &a, const Tensor &b) {
  if (a.scalar_type() != b.scalar_type())
    throw Error(c10::str("kfuzz does not promote types: ", a.scalar_type(), " and ", b.scalar_type()));
  return a.scalar_type();
}

// Refuses what torch computes in another type than the input's: integers divided, summed, or combined with a fractional
// number.
void check_type(const char *what, const Tensor &x, int line) {
  if (!x.is_floating_point()) refuse(line, c10::str("kfuzz does not promote types: ", what, " of ", x.scalar_type()));
}

// The layout that torch gives the result of several tensors, if their layouts agree.
Tensor laid_out(const std::vector<int64_t> &sizes, const Tensor &a, const Tensor &b, const TensorOptions &options, int line) {
  if (is_by_rows(a) && is_by_rows(b)) return empty(sizes, options, line);
  if (a.strides() == b.strides() && a.sizes() == b.sizes()) return empty_like(a, options, line);
  refuse(line, c10::str("kfuzz does not know how torch lays out a result of strides ", a.strides(), " and ", b.strides(),
                        ": call .contiguous() first"));
}

std::vector<int64_t> joined(const Tensor &a, const Tensor &b) {
  std::vector<int64_t> sizes(static_cast<size_t>(std::max(a.dim(), b.dim())), 1);
  for (const Tensor *x : {&a, &b})
    for (int64_t d = 0; d < x->dim(); d++) {
      int64_t &size = sizes[sizes.size() - static_cast<size_t>(x->dim() - d)];
      if (x->size(d) == 1 || x->size(d) == size) continue;
      if (size != 1) throw Error(c10::str("the sizes ", a.sizes(), " and ", b.sizes(), " do not go together"));
      size = x->size(d);
    }
  return sizes;
}

template <class Operation>
Tensor combined(const Tensor &a, const Tensor &b, int line, Operation operation) {
  ScalarType type = common(a, b);
  if (a.device() != b.device() && a.dim() && b.dim()) throw Error("Expected all tensors to be on the same device");
  std::vector<int64_t> sizes = joined(a, b);
  Tensor left = a.expand(sizes), right = b.expand(sizes);
  Tensor made = laid_out(sizes, left, right, (a.dim() ? a : b).options().dtype(type), line);
  Numbers one(left), other(right);
  fill_by(made, [&](int64_t i) { return operation(one[i], other[i]); });
  return made;
}

template <class Operation>
Tensor mapped(const Tensor &x, int line, Operation operation) {
  Tensor made = empty_like(x, x.options(), line);
  Numbers numbers(x);
  fill_by(made, [&](int64_t i) { return operation(numbers[i]); });
  return made;
}

template <class Operation>
Tensor folded(const Tensor &x, int line, Operation operation) {
  if (!x.numel()) throw Error("a reduction of no elements");
  Tensor made = empty({}, x.options(), line);
  Numbers numbers(x);
  fill_by(made, [&](int64_t) {
    double value = numbers[0];
    for (int64_t i = 1; i < x.numel(); i++) value = operation(value, numbers[i]);
    return value;
  });
  return made;
}

}  // namespace

std::vector<double> numbers_in(const Tensor &x) {
  std::vector<double> found(static_cast<size_t>(x.numel()));
  if (holds_nothing(x)) return found;
  Numbers numbers(x);
  for (int64_t i = 0; i < x.numel(); i++) found[static_cast<size_t>(i)] = numbers[i];
  return found;
}

// In the type of another tensor and where that is; each number is rounded once.
Tensor made_of(const std::vector<double> &numbers, const std::vector<int64_t> &sizes, const Tensor &like, int line) {
  Tensor made = empty(sizes, like.options(), line);
  fill_by(made, [&](int64_t i) { return numbers[static_cast<size_t>(i)]; });
  return made;
}

double Tensor::number() const {
  if (numel() != 1) throw Error(c10::str("a Tensor with ", numel(), " elements cannot be converted to Scalar"));
  return Numbers(*this)[0];
}

Tensor Tensor::clone(int line) const { return empty_like(*this, options(), line).copy_(*this); }

Tensor Tensor::contiguous(MemoryFormat, int line) const {
  return is_contiguous() ? *this : empty(sizes(), options(), line).copy_(*this);
}

Tensor Tensor::to(ScalarType type, int line) const {
  if (type == type_) return *this;
  return empty_like(*this, options().dtype(type), line).copy_(*this);
}

Tensor Tensor::to(const Device &device, int line) const {
  if (device == this->device()) return *this;
  return empty_like(*this, options().device(device), line).copy_(*this);
}

const Tensor &Tensor::copy_(const Tensor &from) const {
  Tensor fitted = from.expand(sizes()), source = fitted;
  if (source.storage_ == storage_) source = empty(sizes(), options(), 0).copy_(fitted);
  Numbers numbers(source);
  if (source.scalar_type() == type_)  // bits, not numbers: a NaN keeps its payload
    each_of(*this, [&](char *at, int64_t i) { memcpy(at, numbers.at(i), element_size()); });
  else
    fill_by(*this, [&](int64_t i) { return numbers[i]; });
  return *this;
}

const Tensor &Tensor::fill_(const Scalar &value) const {
  fill_by(*this, [&](int64_t) { return value.value; });
  return *this;
}

#define KFUZZ_TORCH_OPERATION(name, sign)                                                          \
  Tensor Tensor::name(const Tensor &other, int line) const {                                       \
    if (*#sign == '/') check_type("a division", *this, line);                                      \
    return combined(*this, other, line, [](double a, double b) { return a sign b; });              \
  }                                                                                                \
  Tensor Tensor::name(const Scalar &other, int line) const {                                       \
    if (!other.is_integer || *#sign == '/') check_type("arithmetic with a number", *this, line);   \
    double b = other.value;                                                                        \
    return mapped(*this, line, [b](double a) { return a sign b; });                                \
  }
KFUZZ_TORCH_OPERATION(add, +)
KFUZZ_TORCH_OPERATION(sub, -)
KFUZZ_TORCH_OPERATION(mul, *)
KFUZZ_TORCH_OPERATION(div, /)

#define KFUZZ_TORCH_MAP(name, takes_integers, expression)                        \
  Tensor Tensor::name(CallersLine line) const {                                  \
    if (!takes_integers) check_type(#name, *this, line.number());                \
    return mapped(*this, line.number(), [](double x) { return expression; });    \
  }
KFUZZ_TORCH_MAP(relu, true, x < 0 ? 0 : x)
KFUZZ_TORCH_MAP(abs, true, std::abs(x))
KFUZZ_TORCH_MAP(neg, true, -x)
KFUZZ_TORCH_MAP(exp, false, std::exp(x))
KFUZZ_TORCH_MAP(log, false, std::log(x))
KFUZZ_TORCH_MAP(sqrt, false, std::sqrt(x))
KFUZZ_TORCH_MAP(rsqrt, false, 1 / std::sqrt(x))
KFUZZ_TORCH_MAP(tanh, false, std::tanh(x))
KFUZZ_TORCH_MAP(sigmoid, false, 1 / (1 + std::exp(-x)))
KFUZZ_TORCH_MAP(reciprocal, false, 1 / x)

Tensor Tensor::sum(CallersLine line) const {
  check_type("a sum", *this, line.number());
  Tensor made = empty({}, options(), line.number());
  Numbers numbers(*this);
  fill_by(made, [&](int64_t) {
    double total = 0;
    for (int64_t i = 0; i < numel(); i++) total += numbers[i];
    return total;
  });
  return made;
}

Tensor Tensor::sum(int64_t along, bool keep, int line) const {
  check_type("a sum", *this, line);
  Tensor last = transpose(along, -1);
  std::vector<int64_t> sizes = last.sizes().vec();
  int64_t length = sizes.empty() ? 1 : sizes.back();
  if (!sizes.empty()) sizes.back() = 1;
  Tensor made = empty(sizes, options(), line);
  Numbers numbers(last);
  fill_by(made, [&](int64_t row) {
    double total = 0;
    for (int64_t i = 0; i < length; i++) total += numbers[row * length + i];
    return total;
  });
  Tensor back = made.transpose(along, -1).contiguous(MemoryFormat::Contiguous, line);
  return keep ? back : back.squeeze(along);
}

// Calls `compute` for the numbers of each row along a dimension; it changes them into the result's.
template <class Compute>
static Tensor along_rows(const char *what, const Tensor &x, int64_t along, int line, Compute compute) {
  check_type(what, x, line);
  Tensor last = x.dim() ? x.transpose(along, -1) : x;
  int64_t length = last.dim() ? last.sizes().back() : 1;
  Tensor made = empty(last.sizes(), x.options(), line);
  Numbers numbers(last);
  std::vector<double> row(static_cast<size_t>(length));
  fill_by(made, [&](int64_t i) {
    size_t place = static_cast<size_t>(i % length);
    if (!place) {
      for (int64_t j = 0; j < length; j++) row[static_cast<size_t>(j)] = numbers[i + j];
      compute(row);
    }
    return row[place];
  });
  return x.dim() ? made.transpose(along, -1).contiguous(MemoryFormat::Contiguous, line) : made;
}

Tensor Tensor::cumsum(int64_t along, int line) const {
  return along_rows("a cumulative sum", *this, along, line, [](std::vector<double> &row) {
    for (size_t i = 1; i < row.size(); i++) row[i] += row[i - 1];
  });
}

Tensor Tensor::softmax(int64_t along, int line) const {
  return along_rows("a softmax", *this, along, line, [](std::vector<double> &row) {
    double most = *std::max_element(row.begin(), row.end()), total = 0;
    for (double &one : row) total += one = std::exp(one - most);
    for (double &one : row) one /= total;
  });
}

Tensor Tensor::max(CallersLine line) const {
  return folded(*this, line.number(), [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
}
Tensor Tensor::min(CallersLine line) const {
  return folded(*this, line.number(), [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
}

// Without a type, that of the number.
static TensorOptions typed(const TensorOptions &options, const Scalar &value) {
  return options.has_dtype() || !value.is_integer ? options : options.dtype(value.is_bool ? kBool : kLong);
}

Tensor full(IntArrayRef sizes, const Scalar &value, const TensorOptions &options, int line) {
  return empty(sizes, typed(options, value), line).fill_(value);
}

Tensor zeros(IntArrayRef sizes, const TensorOptions &options, int line) { return empty(sizes, options, line).fill_(0); }
Tensor ones(IntArrayRef sizes, const TensorOptions &options, int line) { return empty(sizes, options, line).fill_(1); }

Tensor tensor(const Scalar &value, const TensorOptions &options, int line) { return full({}, value, options, line); }

Tensor tensor_of(const std::vector<Scalar> &values, const TensorOptions &options, int line) {
  int64_t count = static_cast<int64_t>(values.size());
  Tensor made = empty({count}, values.empty() ? options : typed(options, values[0]), line);
  fill_by(made, [&](int64_t i) { return values[static_cast<size_t>(i)].value; });
  return made;
}

Tensor arange(const Scalar &end, const TensorOptions &options, int line) {
  Tensor made = empty({static_cast<int64_t>(std::ceil(end.value))}, typed(options, end), line);
  fill_by(made, [](int64_t i) { return static_cast<double>(i); });
  return made;
}

Tensor cat(const std::vector<Tensor> &parts, int64_t along, int line) {
  if (parts.empty()) refuse(line, "torch.cat(): expected a non-empty list of Tensors");
  std::vector<int64_t> sizes = parts[0].sizes().vec();
  size_t d = static_cast<size_t>(along < 0 ? along + parts[0].dim() : along);
  sizes.at(d) = 0;
  for (const Tensor &part : parts) sizes[d] += part.size(along);
  Tensor made = empty(sizes, parts[0].options(), line);
  int64_t start = 0;
  for (const Tensor &part : parts) {
    made.narrow(along, start, part.size(along)).copy_(part);
    start += part.size(along);
  }
  return made;
}

Tensor stack(const std::vector<Tensor> &parts, int64_t along, int line) {
  std::vector<Tensor> rows;
  for (const Tensor &part : parts) rows.push_back(part.unsqueeze(along));
  return cat(rows, along, line);
}

}  // namespace at
