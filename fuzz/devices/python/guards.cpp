// The allocator of torch on a GPU under --guard-all: poison in whatever torch asks for, and around it to the byte.
//
// torch calls kfuzz_allocate and kfuzz_free (torch.cuda.memory.CUDAPluggableAllocator), also for what an operation asks
// for within itself, and for C++ that allocates past the dispatcher. What is freed keeps its guards, and poison in its
// place, until kfuzz_guards_look has seen it: then it can be had again, in the same stream. Poison is painted in the
// stream that asks, as torch's own allocator orders memory; what was lent to another stream is not looked at once freed.
//
// Needs no header of CUDA: the driver's functions are found by their names, in the library that kfuzz_guards_open names.

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Address = unsigned long long;
using Stream = void *;

constexpr size_t BESIDE = 4096;  // lending.BESIDE_BYTES
constexpr size_t STEP = 512;     // as torch's own allocator rounds, so that bases are as aligned
constexpr uint32_t INSIDE = 0, GUARD = 2, FREED = 3;  // added to a block's word, as in layout.py
constexpr int CAPTURE_NONE = 0;

struct Driver {
  int (*allocate)(Address *, size_t);
  int (*free)(Address);
  int (*fill)(Address, uint32_t, size_t, Stream);
  int (*fetch)(void *, Address, size_t);
  int (*settle)();
  int (*capturing)(Stream, int *);
  int (*context_of_gpu)(void **, int);
  int (*current)(void **);
  int (*make_current)(void *);
};

struct Block {
  Address whole = 0;
  size_t room = 0;   // bytes between the guards that were asked of the driver, a multiple of STEP
  size_t bytes = 0;  // that torch asked for
  Stream stream = nullptr;
  uint32_t word = 0;
  bool is_lent = false;  // to another stream; freeing it does not wait for the work there
  bool is_told = false;

  Address body() const { return whole + BESIDE; }
  size_t words() const { return bytes / 4; }
};

struct Seen {  // guards.py
  int64_t bytes, at, count;
  int32_t is_freed, unused;
};

Driver driver;
void *context;
std::mutex lock;
std::map<Address, Block> live;
std::vector<Block> freed;
std::multimap<std::pair<Stream, size_t>, Block> ready;
uint32_t word;
bool hears_of_lending;

void check(int code, const char *what) {
  if (code) throw std::runtime_error(std::string("--guard-all: ") + what + " failed, CUDA error " + std::to_string(code));
}

// A thread that torch has only just begun has no context yet, as far as the driver knows.
void enter() {
  void *now = nullptr;
  driver.current(&now);
  if (!now) check(driver.make_current(context), "cuCtxSetCurrent");
}

// The guards begin at the very byte behind the last, so what is painted inside ends at the last whole word before it.
void paint(const Block &block, uint32_t inside) {
  Address end = block.body() + 4 * block.words();
  Address last = block.body() + block.room + BESIDE;
  check(driver.fill(block.whole, block.word + GUARD, BESIDE / 4, block.stream), "cuMemsetD32Async");
  if (block.words()) check(driver.fill(block.body(), block.word + inside, block.words(), block.stream), "cuMemsetD32Async");
  check(driver.fill(end, block.word + GUARD, (last - end) / 4, block.stream), "cuMemsetD32Async");
}

bool is_captured(Stream stream) {
  int status = CAPTURE_NONE;
  return driver.capturing(stream, &status) == 0 && status != CAPTURE_NONE;
}

Block block_of(size_t room, Stream stream) {
  auto found = ready.find({stream, room});
  if (found != ready.end()) {
    Block block = found->second;
    ready.erase(found);
    return block;
  }
  Block block;
  block.room = room;
  block.stream = stream;
  if (driver.allocate(&block.whole, room + 2 * BESIDE)) {
    for (auto &one : ready) driver.free(one.second.whole);
    for (auto &one : freed) driver.free(one.whole);
    ready.clear();
    freed.clear();
    if (driver.allocate(&block.whole, room + 2 * BESIDE)) throw std::bad_alloc();
  }
  return block;
}

// Bytes from `first` to before `last` of the block's memory that are not of this word; places count from its body.
void look(const Block &block, Address first, Address last, uint32_t good, bool is_freed, std::vector<Seen> &seen) {
  Address start = first & ~Address(3);
  std::vector<unsigned char> held(last - start);
  check(driver.fetch(held.data(), start, held.size()), "cuMemcpyDtoH");
  Seen one{int64_t(block.bytes), 0, 0, is_freed, 0};
  for (size_t at = first - start; at < held.size(); at++)
    if (held[at] != ((good >> 8 * (at % 4)) & 0xff) && !one.count++) one.at = int64_t(start + at) - int64_t(block.body());
  if (one.count) seen.push_back(one);
}

void look(const Block &block, bool is_freed, std::vector<Seen> &seen) {
  Address body = block.body();
  look(block, block.whole, body, block.word + GUARD, false, seen);
  look(block, body + block.bytes, body + block.room + BESIDE, block.word + GUARD, false, seen);
  if (is_freed) look(block, body, body + 4 * block.words(), block.word + FREED, true, seen);
}

template <typename F>
bool found(void *library, const char *name, F &into) {
  into = reinterpret_cast<F>(dlsym(library, name));
  return into != nullptr;
}

}  // namespace

extern "C" {

// Ready the driver's functions, and the context that torch will use on this GPU; the name of what is missing, or null.
// `hears`: whether torch is asked to call kfuzz_lend. Else what is written to freed memory is not looked at.
const char *kfuzz_guards_open(const char *path, int device, int hears) {
  hears_of_lending = hears;
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) return path;
  if (!found(library, "cuMemAlloc_v2", driver.allocate)) return "cuMemAlloc_v2";
  if (!found(library, "cuMemFree_v2", driver.free)) return "cuMemFree_v2";
  if (!found(library, "cuMemsetD32Async", driver.fill)) return "cuMemsetD32Async";
  if (!found(library, "cuMemcpyDtoH_v2", driver.fetch)) return "cuMemcpyDtoH_v2";
  if (!found(library, "cuCtxSynchronize", driver.settle)) return "cuCtxSynchronize";
  if (!found(library, "cuStreamIsCapturing", driver.capturing)) return "cuStreamIsCapturing";
  if (!found(library, "cuDevicePrimaryCtxRetain", driver.context_of_gpu)) return "cuDevicePrimaryCtxRetain";
  if (!found(library, "cuCtxGetCurrent", driver.current)) return "cuCtxGetCurrent";
  if (!found(library, "cuCtxSetCurrent", driver.make_current)) return "cuCtxSetCurrent";
  return driver.context_of_gpu(&context, device) ? "a context" : nullptr;
}

void *kfuzz_allocate(ptrdiff_t bytes, int device, Stream stream) {
  if (device) throw std::runtime_error("--guard-all: there is no memory but on the first GPU");
  std::lock_guard<std::mutex> held(lock);
  enter();
  if (is_captured(stream)) throw std::runtime_error("--guard-all: no memory can be had while a graph is captured");
  size_t room = (size_t(bytes) + STEP - 1) / STEP * STEP;
  Block block = block_of(room, stream);
  block.bytes = size_t(bytes);
  block.word = word;
  block.is_lent = !hears_of_lending;
  block.is_told = false;
  paint(block, INSIDE);
  live[block.body()] = block;
  return reinterpret_cast<void *>(block.body());
}

void kfuzz_free(void *memory, ptrdiff_t, int, Stream) {
  std::lock_guard<std::mutex> held(lock);
  auto found = live.find(reinterpret_cast<Address>(memory));
  if (found == live.end()) return;
  Block block = found->second;
  live.erase(found);
  enter();
  // Guards stay as they are: what has been written there is still to be seen.
  if (!block.is_lent && block.words() && !is_captured(block.stream))
    driver.fill(block.body(), block.word + FREED, block.words(), block.stream);
  freed.push_back(block);
}

// torch tells that another stream uses this memory, too.
void kfuzz_lend(void *memory, Stream stream) {
  std::lock_guard<std::mutex> held(lock);
  auto found = live.find(reinterpret_cast<Address>(memory));
  if (found != live.end() && found->second.stream != stream) found->second.is_lent = true;
}

// The poison of what is allocated from now on.
void kfuzz_guards_begin(uint32_t poison) {
  std::lock_guard<std::mutex> held(lock);
  word = poison;
}

// Writes to guard zones, each block reported once: how many findings there are in all, -1 where the GPU fails.
int kfuzz_guards_look(Seen *into, int most) {
  std::lock_guard<std::mutex> held(lock);
  std::vector<Seen> seen;
  try {
    enter();
    check(driver.settle(), "cuCtxSynchronize");
    for (auto &one : live) {
      size_t before = seen.size();
      if (!one.second.is_told) look(one.second, false, seen);
      one.second.is_told = one.second.is_told || seen.size() > before;
    }
    for (auto &one : freed) {
      if (!one.is_told) look(one, !one.is_lent, seen);
      ready.emplace(std::make_pair(one.stream, one.room), one);
    }
    freed.clear();
  } catch (const std::exception &) {
    return -1;
  }
  for (size_t place = 0; place < seen.size() && int(place) < most; place++) into[place] = seen[place];
  return int(seen.size());
}

}  // extern "C"
