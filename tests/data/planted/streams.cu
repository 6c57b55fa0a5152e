// Programs of one page: what streams, events and the host order, and what they leave open. The first argument says which.
#include <cstdio>
#include <cstring>

constexpr int n = 1000, half = n / 2;
__constant__ int scale;

__global__ void fill(int *a, int count, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) a[i] = value + i;
}
__global__ void add(int *to, const int *from, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] += from[i];
}
__global__ void scaled(int *a, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) a[i] *= scale;
}
__global__ void wait_for(volatile int *flag, int *a) {
  while (*flag == 0) {
  }
  a[0] = 1;
}
__global__ void count_up(int *a) { atomicAdd(a, 1); }

struct Args {
  int *a, *b, *pinned, *managed;
  cudaStream_t s, t;            // that wait for nobody
  cudaStream_t plain, plain_2;  // that the default stream waits for
  cudaEvent_t e, f;
};

#define FILL(stream, array, value) fill<<<4, 256, 0, stream>>>(array, n, value)
#define ADD(stream, to, from) add<<<4, 256, 0, stream>>>(to, from, n)

static int sum(const int *a) {
  int all = 0;
  for (int i = 0; i < n; i++) all += a[i];
  return all;
}

static void add_on_host(void *data) {
  int *a = static_cast<int *>(data);
  for (int i = 0; i < n; i++) a[i] += 5;
}

static int program(const char *which, const Args &x) {
  auto is = [which](const char *name) { return !strcmp(which, name); };
  int host[n];

  // Right.
  if (is("event")) {
    FILL(x.s, x.a, 1);
    cudaEventRecord(x.e, x.s);
    cudaStreamWaitEvent(x.t, x.e, 0);
    ADD(x.t, x.b, x.a);
  }
  if (is("fork_and_join")) {
    FILL(x.s, x.a, 1);
    cudaEventRecord(x.e, x.s);
    cudaStreamWaitEvent(x.t, x.e);
    add<<<2, 256, 0, x.t>>>(x.a + half, x.b + half, half);
    add<<<2, 256, 0, x.s>>>(x.a, x.b, half);
    cudaEventRecord(x.f, x.t);
    cudaStreamWaitEvent(x.s, x.f);
    ADD(x.s, x.b, x.a);
  }
  if (is("event_again")) {
    cudaEventRecord(x.e, x.s);
    FILL(x.s, x.a, 1);
    cudaEventRecord(x.e, x.s);
    cudaStreamWaitEvent(x.t, x.e);
    ADD(x.t, x.b, x.a);
  }
  if (is("one_stream")) {
    FILL(x.s, x.a, 1);
    ADD(x.s, x.b, x.a);
    cudaMemcpyAsync(x.pinned, x.b, sizeof host, cudaMemcpyDeviceToHost, x.s);
    cudaStreamSynchronize(x.s);
    return sum(x.pinned);
  }
  if (is("default_between")) {
    FILL(x.plain, x.a, 1);
    ADD(0, x.b, x.a);
    ADD(x.plain_2, x.a, x.b);
  }
  if (is("default_event_between")) {
    FILL(x.plain, x.a, 1);
    cudaEventRecord(x.e);
    ADD(x.plain_2, x.b, x.a);
  }
  if (is("memset_then_plain")) {
    cudaMemset(x.a, 0, sizeof host);
    ADD(x.plain, x.a, x.b);
  }
  if (is("per_thread")) {
    cudaMemset(x.a, 0, sizeof host);
    ADD(cudaStreamPerThread, x.a, x.b);
    ADD(cudaStreamLegacy, x.b, x.a);
  }
  if (is("device_waited_for")) {
    FILL(x.s, x.a, 1);
    cudaDeviceSynchronize();
    ADD(x.t, x.b, x.a);
  }
  if (is("stream_waited_for")) {
    FILL(x.s, x.a, 1);
    cudaStreamSynchronize(x.s);
    ADD(x.t, x.b, x.a);
  }
  if (is("event_waited_for")) {
    FILL(x.s, x.managed, 1);
    cudaEventRecord(x.e, x.s);
    cudaEventSynchronize(x.e);
    FILL(x.s, x.a, 1);
    return sum(x.managed);
  }
  if (is("event_asked_for")) {
    FILL(x.s, x.managed, 1);
    cudaEventRecord(x.e, x.s);
    while (cudaEventQuery(x.e) == cudaErrorNotReady) {}
    return sum(x.managed);
  }
  if (is("stream_asked_for")) {
    FILL(x.s, x.managed, 1);
    while (cudaStreamQuery(x.s) != cudaSuccess) {}
    return sum(x.managed);
  }
  if (is("copy_waits")) {
    FILL(x.plain, x.a, 1);
    cudaMemcpy(host, x.a, sizeof host, cudaMemcpyDeviceToHost);
    return sum(host);
  }
  if (is("pageable")) {
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMemcpyAsync(x.a, host, sizeof host, cudaMemcpyHostToDevice, x.s);
    for (int i = 0; i < n; i++) host[i] = 0;
    cudaMemcpyAsync(host, x.a, sizeof host, cudaMemcpyDeviceToHost, x.s);
    return sum(host);
  }
  if (is("two_buffers")) {
    int all = 0;
    cudaEvent_t done[2] = {x.e, x.f};
    for (int round = 0; round < 6; round++) {
      int *part = x.pinned + round % 2 * half, *there = x.a + round % 2 * half;
      if (round >= 2) cudaEventSynchronize(done[round % 2]);
      if (round >= 2) all += part[3];
      for (int i = 0; i < half; i++) part[i] = round + i;
      cudaMemcpyAsync(there, part, half * sizeof(int), cudaMemcpyHostToDevice, x.s);
      add<<<2, 256, 0, x.s>>>(there, x.b, half);
      cudaMemcpyAsync(part, there, half * sizeof(int), cudaMemcpyDeviceToHost, x.s);
      cudaEventRecord(done[round % 2], x.s);
    }
    cudaStreamSynchronize(x.s);
    return all;
  }
  if (is("two_halves")) {
    fill<<<2, 256, 0, x.s>>>(x.managed, half, 1);
    fill<<<2, 256, 0, x.t>>>(x.managed + half, half - 10, 2);
    for (int i = n - 10; i < n; i++) x.managed[i] = i;
    cudaDeviceSynchronize();
    return sum(x.managed);
  }
  if (is("both_read")) {
    ADD(x.s, x.a, x.managed);
    ADD(x.t, x.b, x.managed);
    return sum(x.managed);
  }
  if (is("both_count")) {
    for (int i = 0; i < 3; i++) count_up<<<8, 32, 0, x.s>>>(x.a), count_up<<<8, 32, 0, x.t>>>(x.a);
  }
  if (is("called_back")) {
    FILL(x.s, x.a, 1);
    cudaMemcpyAsync(x.pinned, x.a, sizeof host, cudaMemcpyDeviceToHost, x.s);
    cudaLaunchHostFunc(x.s, add_on_host, x.pinned);
    cudaMemcpyAsync(x.a, x.pinned, sizeof host, cudaMemcpyHostToDevice, x.s);
    cudaStreamSynchronize(x.s);
    return sum(x.pinned);
  }
  if (is("symbol_in_order")) {
    static const int three = 3;
    cudaMemcpyToSymbolAsync(scale, &three, sizeof three, 0, cudaMemcpyHostToDevice, x.s);
    scaled<<<4, 256, 0, x.s>>>(x.a, n);
    scaled<<<4, 256, 0, x.t>>>(x.b, 0);
  }
  if (is("freed_by_the_host")) {
    int *c;
    cudaMalloc(&c, sizeof host);
    FILL(x.s, c, 1);
    ADD(x.s, x.a, c);
    cudaFree(c);
  }
  if (is("allocated_in_order")) {
    int *c;
    cudaMallocAsync(&c, sizeof host, x.s);
    FILL(x.s, c, 1);
    cudaEventRecord(x.e, x.s);
    cudaStreamWaitEvent(x.t, x.e);
    ADD(x.t, x.a, c);
    cudaEventRecord(x.f, x.t);
    cudaStreamWaitEvent(x.s, x.f);
    cudaFreeAsync(c, x.s);
  }
  if (is("many_streams")) {
    for (int i = 0; i < 150; i++) {
      cudaStream_t one;
      cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
      cudaStreamWaitEvent(one, x.e);
      ADD(one, x.a, x.b);
      cudaEventRecord(x.e, one);
      cudaStreamDestroy(one);
    }
  }
  if (is("prepared_before")) {
    for (int i = 0; i < n; i++) x.managed[i] = x.pinned[i] = i;
    ADD(x.s, x.managed, x.pinned);
  }

  // Wrong.
  if (is("no_event")) {
    FILL(x.s, x.a, 1);
    ADD(x.t, x.b, x.a);  //~ error: race if no_event
  }
  if (is("overwritten_too_early")) {
    ADD(x.s, x.b, x.a);
    FILL(x.t, x.a, 1);  //~ error: race if overwritten_too_early
  }
  if (is("default_does_not_wait")) {
    FILL(x.s, x.a, 1);
    ADD(0, x.b, x.a);  //~ error: race if default_does_not_wait
  }
  if (is("two_plain_streams")) {
    FILL(x.plain, x.a, 1);
    ADD(x.plain_2, x.b, x.a);  //~ error: race if two_plain_streams
  }
  if (is("per_thread_is_one_of_them")) {
    FILL(x.plain, x.a, 1);
    ADD(cudaStreamPerThread, x.b, x.a);  //~ error: race if per_thread_is_one_of_them
  }
  if (is("event_too_early")) {
    cudaEventRecord(x.e, x.s);
    FILL(x.s, x.a, 1);
    cudaStreamWaitEvent(x.t, x.e);
    ADD(x.t, x.b, x.a);  //~ error: race if event_too_early
  }
  if (is("other_event")) {
    FILL(x.s, x.a, 1);
    cudaEventRecord(x.e, x.s);
    cudaStreamWaitEvent(x.t, x.f);
    ADD(x.t, x.b, x.a);  //~ error: race if other_event
  }
  if (is("memset_is_not_waited_for")) {
    cudaMemset(x.a, 0, sizeof host);
    ADD(x.s, x.a, x.b);  //~ error: race if memset_is_not_waited_for
  }
  if (is("nor_a_copy_on_the_device")) {
    cudaMemcpy(x.a, x.b, sizeof host, cudaMemcpyDeviceToDevice);
    ADD(x.s, x.b, x.a);  //~ error: race if nor_a_copy_on_the_device
  }
  if (is("copied_too_early")) {
    FILL(x.s, x.a, 1);
    cudaMemcpyAsync(x.pinned, x.a, sizeof host, cudaMemcpyDeviceToHost, x.t);  //~ error: race if copied_too_early
  }
  if (is("read_too_early")) {
    FILL(x.s, x.a, 1);
    cudaMemcpyAsync(x.pinned, x.a, sizeof host, cudaMemcpyDeviceToHost, x.s);
    return x.pinned[7];  //~ error: race if read_too_early
  }
  if (is("refilled_too_early")) {
    for (int i = 0; i < n; i++) x.pinned[i] = i;
    cudaMemcpyAsync(x.a, x.pinned, sizeof host, cudaMemcpyHostToDevice, x.s);
    x.pinned[8] = 0;  //~ error: race if refilled_too_early
  }
  if (is("managed_too_early")) {
    FILL(x.s, x.managed, 1);
    return x.managed[9];  //~ error: race if managed_too_early
  }
  if (is("waits_for_another")) {
    FILL(x.s, x.managed, 1);
    cudaStreamSynchronize(x.t);
    return x.managed[9];  //~ error: race if waits_for_another
  }
  if (is("event_before_the_last")) {
    FILL(x.s, x.managed, 1);
    cudaEventRecord(x.e, x.s);
    FILL(x.s, x.managed, 2);
    cudaEventSynchronize(x.e);
    return x.managed[9];  //~ error: race if event_before_the_last
  }
  if (is("zeroed_by_the_host")) {
    FILL(x.s, x.managed, 1);
    memset(x.managed, 0, sizeof host);  //~ error: race if zeroed_by_the_host
  }
  if (is("called_back_meanwhile")) {
    cudaLaunchHostFunc(x.s, add_on_host, x.pinned);
    return x.pinned[9];  //~ error: race if called_back_meanwhile
  }
  if (is("symbol_meanwhile")) {
    static const int three = 3;
    scaled<<<4, 256, 0, x.s>>>(x.a, n);
    cudaMemcpyToSymbolAsync(scale, &three, sizeof three, 0, cudaMemcpyHostToDevice, x.t);  //~ error: race if symbol_meanwhile
  }
  if (is("freed_meanwhile")) {
    int *c;
    cudaMalloc(&c, sizeof host);
    FILL(x.s, c, 1);
    cudaFreeAsync(c, x.t);  //~ error: use-after-free if freed_meanwhile
  }
  if (is("not_yet_allocated")) {
    int *c;
    cudaMallocAsync(&c, sizeof host, x.s);
    FILL(x.t, c, 1);  //~ error: race if not_yet_allocated
  }
  // Neither: it is not run to its end.
  if (is("waits_for_the_host")) {
    x.pinned[0] = 0;
    wait_for<<<1, 1, 0, x.s>>>(x.pinned, x.a);
    *static_cast<volatile int *>(x.pinned) = 1;
  }
  return 0;
}

int main(int, char **argv) {
  Args x;
  cudaMalloc(&x.a, n * sizeof(int));
  cudaMalloc(&x.b, n * sizeof(int));
  cudaMallocHost(&x.pinned, n * sizeof(int));
  cudaMallocManaged(&x.managed, n * sizeof(int));
  cudaMemset(x.a, 0, n * sizeof(int));
  cudaMemset(x.b, 0, n * sizeof(int));
  for (int i = 0; i < n; i++) x.pinned[i] = x.managed[i] = 0;
  cudaStreamCreateWithFlags(&x.s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&x.t, cudaStreamNonBlocking);
  cudaStreamCreate(&x.plain);
  cudaStreamCreate(&x.plain_2);
  cudaEventCreate(&x.e);
  cudaEventCreateWithFlags(&x.f, cudaEventDisableTiming);
  cudaDeviceSynchronize();
  int result = program(argv[1], x);
  cudaDeviceSynchronize();
  printf("%d\n", result);
}
