// The memory of tensors: on the device or the host, their own or another owner's.
#pragma once
#include "include/kfuzz_torch/tensor.h"

namespace at {

struct Storage {
  Storage(size_t bytes, Device device, int line);  // fresh: poisoned on the device, anything on the host
  Storage(void *data, size_t bytes) : data(static_cast<char *>(data)), bytes(bytes), device(kCUDA), is_own(false) {}
  ~Storage();
  Storage(const Storage &) = delete;

  char *data;
  size_t bytes;
  Device device;
  bool is_own;
};

// While one lives, the host can reach a tensor's memory: this is what torch's own kernels would do.
class Reached {
 public:
  Reached(const Tensor &tensor, bool writes);
  ~Reached();
  Reached(const Reached &) = delete;
  char *data() const { return data_; }  // where its first element lies

 private:
  char *data_;
  char *theirs_ = nullptr;  // where the written bytes belong
  std::vector<char> copied_;
};

void release(void *memory);
std::vector<double> numbers_in(const Tensor &x);  // in row order
Tensor made_of(const std::vector<double> &numbers, const std::vector<int64_t> &sizes, const Tensor &like, int line);
bool holds_nothing(const Tensor &x);  // its memory is an address alone, in a run that looks at launches
int64_t place_of(const Tensor &x, int64_t i);  // the byte of element number i, in row order
bool is_dense(const Tensor &x);                // no two elements share a place, and no gap lies between them
bool is_by_rows(const Tensor &x);              // no dimension has a longer step than one before it

}  // namespace at
