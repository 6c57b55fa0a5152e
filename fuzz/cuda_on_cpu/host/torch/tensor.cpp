// Tensors and views of them.
#include <algorithm>
#include <numeric>

#include "storage.h"

namespace at {

namespace {
struct ViewError : Error {
  using Error::Error;
};
}  // namespace

static std::vector<int64_t> contiguous_strides(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

// Strides of a view of other sizes; nothing if that needs a copy. Dimensions that follow each other in memory are one
// stretch, which the new ones have to divide.
static std::optional<std::vector<int64_t>> strides_of_view(const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides,
                                                           const std::vector<int64_t> &wanted) {
  std::vector<int64_t> found(wanted.size());
  size_t next = wanted.size();
  int64_t stretch = 1, base = sizes.empty() ? 1 : strides.back(), covered = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    stretch *= sizes[d];
    if (d && (sizes[d - 1] == 1 || strides[d - 1] == stretch * base)) continue;
    while (next && (covered < stretch || wanted[next - 1] == 1)) {
      found[--next] = covered * base;
      covered *= wanted[next];
    }
    if (covered != stretch) return std::nullopt;
    if (d) base = strides[d - 1], stretch = covered = 1;
  }
  while (next) found[--next] = base;  // only sizes of 1 are left
  return found;
}

static int64_t count_of(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<int64_t>());
}

Tensor::Tensor(std::shared_ptr<Storage> storage, ScalarType type, std::vector<int64_t> sizes, std::vector<int64_t> strides,
               int64_t offset)
    : storage_(std::move(storage)), type_(type), sizes_(std::move(sizes)), strides_(std::move(strides)), offset_(offset) {}

int64_t Tensor::numel() const { return defined() ? count_of(sizes_) : 0; }
Device Tensor::device() const { return defined() ? storage_->device : Device(kCPU); }

bool Tensor::is_contiguous(MemoryFormat) const {
  int64_t step = 1;
  for (size_t i = sizes_.size(); i-- > 0;) {
    if (sizes_[i] != 1 && strides_[i] != step) return false;
    step *= std::max<int64_t>(sizes_[i], 1);
  }
  return true;
}

void *Tensor::data_ptr() const {
  if (!defined() || !storage_->data) return nullptr;
  return storage_->data + offset_ * static_cast<int64_t>(element_size());
}

void *Tensor::checked_data(ScalarType wanted) const {
  if (wanted != type_) throw Error(c10::str("expected scalar type ", wanted, " but found ", type_));
  return data_ptr();
}

void Tensor::check_rank(size_t wanted) const {
  if (wanted != sizes_.size()) throw Error(c10::str("expected ", wanted, " dims but tensor has ", sizes_.size()));
}

size_t Tensor::place_of(int64_t i) const {
  if (sizes_.empty()) throw Error(c10::str("Dimension specified as ", i, " but tensor has no dimensions"));
  return wrapped(i);
}

size_t Tensor::wrapped(int64_t i) const {
  int64_t rank = std::max<int64_t>(dim(), 1);
  if (i < -rank || i >= rank) throw Error(c10::str("Dimension out of range: ", i, " of a tensor of ", dim(), " dimensions"));
  return static_cast<size_t>(i < 0 ? i + rank : i);
}

Tensor Tensor::view(IntArrayRef wanted) const {
  std::vector<int64_t> sizes = wanted.vec();
  int64_t known = 1, inferred = -1;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == -1 && inferred < 0)
      inferred = static_cast<int64_t>(i);
    else
      known *= sizes[i];
  }
  if (inferred >= 0) sizes[static_cast<size_t>(inferred)] = known ? numel() / known : 0;
  if (count_of(sizes) != numel()) throw Error(c10::str("shape '", wanted, "' is invalid for input of size ", numel()));
  std::optional<std::vector<int64_t>> strides = contiguous_strides(sizes);
  if (!is_contiguous()) strides = strides_of_view(sizes_, strides_, sizes);
  if (!strides) throw ViewError("view size is not compatible with input tensor's size and stride; use .reshape(...)");
  return Tensor(storage_, type_, std::move(sizes), std::move(*strides), offset_);
}

Tensor Tensor::reshape(IntArrayRef sizes, int line) const {
  try {
    return view(sizes);
  } catch (const ViewError &) {
    return contiguous(MemoryFormat::Contiguous, line).view(sizes);
  }
}

Tensor Tensor::flatten(int64_t from, int64_t to, int line) const {
  size_t first = wrapped(from), last = wrapped(to);
  std::vector<int64_t> sizes(sizes_.begin(), sizes_.begin() + static_cast<long>(first));
  sizes.push_back(1);
  for (size_t i = first; i <= last && i < sizes_.size(); i++) sizes.back() *= sizes_[i];
  for (size_t i = last + 1; i < sizes_.size(); i++) sizes.push_back(sizes_[i]);
  return reshape(sizes, line);
}

Tensor Tensor::transpose(int64_t a, int64_t b) const {
  Tensor view = *this;
  if (view.sizes_.empty()) return view;
  std::swap(view.sizes_[wrapped(a)], view.sizes_[wrapped(b)]);
  std::swap(view.strides_[wrapped(a)], view.strides_[wrapped(b)]);
  return view;
}

Tensor Tensor::t() const {
  if (dim() > 2) throw Error(c10::str("t() expects a tensor with <= 2 dimensions, but self is ", dim(), "D"));
  return dim() < 2 ? *this : transpose(0, 1);
}

Tensor Tensor::permute(IntArrayRef order) const {
  check_rank(order.size());
  Tensor view = *this;
  for (size_t i = 0; i < order.size(); i++) {
    view.sizes_[i] = sizes_[wrapped(order[i])];
    view.strides_[i] = strides_[wrapped(order[i])];
  }
  return view;
}

Tensor Tensor::unsqueeze(int64_t at) const {
  if (at < 0) at += dim() + 1;
  if (at < 0 || at > dim()) throw Error(c10::str("Dimension out of range: ", at));
  Tensor view = *this;
  view.sizes_.insert(view.sizes_.begin() + at, 1);
  view.strides_.insert(view.strides_.begin() + at, at < dim() ? strides_[static_cast<size_t>(at)] * sizes_[static_cast<size_t>(at)] : 1);
  return view;
}

Tensor Tensor::squeeze(int64_t at) const {
  Tensor view = *this;
  long i = static_cast<long>(wrapped(at));
  if (view.sizes_.empty() || view.sizes_[static_cast<size_t>(i)] != 1) return view;
  view.sizes_.erase(view.sizes_.begin() + i);
  view.strides_.erase(view.strides_.begin() + i);
  return view;
}

Tensor Tensor::squeeze() const {
  Tensor view = *this;
  for (int64_t i = dim(); i-- > 0;) view = view.squeeze(i);
  return view;
}

Tensor Tensor::expand(IntArrayRef wanted) const {
  Tensor view = *this;
  while (view.sizes_.size() < wanted.size()) view = view.unsqueeze(0);
  for (size_t i = 0; i < wanted.size(); i++) {
    if (wanted[i] == -1 || wanted[i] == view.sizes_[i]) continue;
    if (view.sizes_[i] != 1) throw Error(c10::str("the expanded size ", wanted, " does not match ", sizes()));
    view.sizes_[i] = wanted[i];
    view.strides_[i] = 0;
  }
  return view;
}

Tensor Tensor::slice(int64_t along, int64_t start, int64_t end, int64_t step) const {
  size_t d = wrapped(along);
  int64_t size = sizes_[d];
  start = std::min(std::max<int64_t>(start < 0 ? start + size : start, 0), size);
  end = std::min(std::max(end < 0 ? end + size : end, start), size);
  Tensor view = *this;
  view.offset_ += start * strides_[d];
  view.sizes_[d] = (end - start + step - 1) / step;
  view.strides_[d] *= step;
  return view;
}

Tensor Tensor::narrow(int64_t along, int64_t start, int64_t length) const {
  if (start < 0 || length < 0 || start + length > size(along)) throw Error("narrow: start and length exceed the dimension");
  return slice(along, start, start + length);
}

Tensor Tensor::select(int64_t along, int64_t index) const {
  size_t d = wrapped(along);
  if (sizes_.empty() || index < -sizes_[d] || index >= sizes_[d]) throw Error(c10::str("index ", index, " is out of range"));
  Tensor view = slice(along, index, index < 0 ? index + sizes_[d] + 1 : index + 1);
  view.sizes_.erase(view.sizes_.begin() + static_cast<long>(d));
  view.strides_.erase(view.strides_.begin() + static_cast<long>(d));
  return view;
}

Tensor empty(IntArrayRef sizes, const TensorOptions &options, int line) {
  for (int64_t size : sizes)
    if (size < 0) refuse(line, c10::str("Trying to create tensor with negative dimension ", size));
  ScalarType type = options.dtype().type;
  auto bytes = static_cast<size_t>(count_of(sizes.vec())) * elementSize(type);
  return Tensor(std::make_shared<Storage>(bytes, options.device(), line), type, sizes.vec(), contiguous_strides(sizes.vec()), 0);
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions &options, int line) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); i++) last += (std::max<int64_t>(sizes[i], 1) - 1) * strides[i];
  ScalarType type = options.dtype().type;
  auto bytes = static_cast<size_t>(last + 1) * elementSize(type);
  return Tensor(std::make_shared<Storage>(bytes, options.device(), line), type, sizes.vec(), strides.vec(), 0);
}

// The layout that torch gives a tensor made like another one: with its strides, if these leave no gap; otherwise in row
// order, if the other's dimensions come in that order.
Tensor empty_like(const Tensor &x, const TensorOptions &options, int line) {
  if (is_dense(x)) return empty_strided(x.sizes(), x.strides(), options, line);
  if (is_by_rows(x)) return empty(x.sizes(), options, line);
  refuse(line, c10::str("kfuzz does not know how torch lays out a tensor like one of sizes ", x.sizes(), " and strides ", x.strides(),
                        ": call .contiguous() first"));
}

int64_t place_of(const Tensor &x, int64_t i) {
  int64_t offset = 0;
  for (int64_t d = x.dim(); d-- > 0;) {
    offset += i % x.size(d) * x.stride(d);
    i /= x.size(d);
  }
  return offset * static_cast<int64_t>(x.element_size());
}

bool is_by_rows(const Tensor &x) {
  int64_t last = 0;
  for (int64_t d = x.dim(); d-- > 0;) {
    if (x.size(d) == 1 || x.stride(d) == 0) continue;
    if (x.stride(d) < last) return false;
    last = x.stride(d);
  }
  return true;
}

bool is_dense(const Tensor &x) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (int64_t d = 0; d < x.dim(); d++)
    if (x.size(d) != 1) steps.emplace_back(x.stride(d), x.size(d));
  std::sort(steps.begin(), steps.end());
  int64_t step = 1;
  for (const auto &[stride, size] : steps) {
    if (stride != step) return x.numel() == 0;
    step *= size;
  }
  return true;
}

Tensor from_device(void *data, ScalarType type, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  int64_t count = offset + 1;
  for (size_t i = 0; i < sizes.size(); i++) count += (sizes[i] - 1) * strides[i];
  if (!count_of(sizes.vec())) count = 0;
  auto bytes = static_cast<size_t>(count) * elementSize(type);
  return Tensor(std::make_shared<Storage>(data, bytes), type, sizes.vec(), strides.vec(), offset);
}

}  // namespace at
