// The driver's functions that guards.cpp calls, over the memory of the host: a GPU that is not there.
#include <cstdint>
#include <cstdlib>
#include <cstring>

static unsigned long long given, most = 1 << 20;
static int captures;

extern "C" {
void fake_captures(int now) { captures = now; }
unsigned long long fake_given() { return given; }
int cuMemAlloc_v2(unsigned long long *at, size_t bytes) {
  if (given + bytes > most) return 2;
  given += bytes;
  auto *whole = static_cast<size_t *>(aligned_alloc(512, bytes + 512));
  *whole = bytes;
  *at = reinterpret_cast<unsigned long long>(whole) + 512;
  return 0;
}
int cuMemFree_v2(unsigned long long at) {
  given -= *reinterpret_cast<size_t *>(at - 512);
  free(reinterpret_cast<void *>(at - 512));
  return 0;
}
int cuMemsetD32Async(unsigned long long at, uint32_t word, size_t count, void *) {
  for (size_t one = 0; one < count; one++) memcpy(reinterpret_cast<char *>(at) + 4 * one, &word, 4);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
  memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
int cuCtxSynchronize() { return 0; }
int cuStreamIsCapturing(void *, int *status) { return *status = captures, 0; }
int cuDevicePrimaryCtxRetain(void **context, int) { return *context = &captures, 0; }
int cuCtxGetCurrent(void **context) { return *context = &captures, 0; }
int cuCtxSetCurrent(void *) { return 0; }
}
