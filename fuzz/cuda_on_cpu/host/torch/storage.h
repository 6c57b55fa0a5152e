// What tensors lie in: memory of the device or of the host, their own or somebody else's.
#pragma once
#include "../include/kfuzz_torch/tensor.h"

namespace at {

struct Storage {
  Storage(size_t bytes, Device device, int line);  // fresh: poisoned on the device, and anything on the host
  Storage(void *data, size_t bytes) : data(static_cast<char *>(data)), bytes(bytes), device(kCUDA), is_own(false) {}
  ~Storage();
  Storage(const Storage &) = delete;

  char *data;
  size_t bytes;
  Device device;
  bool is_own;
};

// A tensor's memory within the host's reach, while one lives: this is what torch's own kernels would do.
class Reached {
 public:
  Reached(const Tensor &tensor, bool writes);
  ~Reached();
  Reached(const Reached &) = delete;
  char *data() const { return data_; }  // where its first element lies

 private:
  char *data_;
  char *theirs_ = nullptr;  // where what was written goes
  std::vector<char> copied_;
};

void release(void *memory);
int64_t place_of(const Tensor &x, int64_t i);  // the byte of element number i, in the order of rows
bool is_dense(const Tensor &x);                // no two elements share a place, and none is left out between them
bool is_by_rows(const Tensor &x);              // no dimension has a longer step than one before it

}  // namespace at
