"""Habits of public programs: what they take from CUDA's headers, and how they write calls and launches."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest
from forked import run_forked
from program_runs import built, check_program, check_text

from kfuzz.common.text.headers import SourceFile
from kfuzz.devices import ClaimError, UnsupportedError, nvcc
from kfuzz.devices.cpu.programs.build import compile_source
from kfuzz.devices.cpu.programs.command_line import parse
from kfuzz.devices.cpu.translate import translate

HABITS = """
#include <cstdio>
#include <cstdlib>
#include <builtin_types.h>
#include <cuComplex.h>
#include <cublas_v2.h>
#include <curand.h>
#include <driver_functions.h>
#if !defined(CUBLAS_API_H_) || !defined(CURAND_H_)
#error "helper_cuda.h looks for these guards"
#endif
#if defined(__CUDA_RUNTIME_H__) || defined(__DRIVER_TYPES_H__)
template <class T> void check(T result, const char *what) {
  if (result) { printf("%s: %s\\n", what, cudaGetErrorName(result)); exit(1); }
}
#define checkCudaErrors(call) check((call), #call)
#endif
void cublasCheck(cudaError_t status, const char *file, int) { if (status) { printf("%s\\n", file); exit(2); } }
#define cublasCheck(status) { cublasCheck((status), __FILE__, __LINE__); }
inline __host__ __device__ float2 fminf(float2 a, float2 b) { return make_float2(fminf(a.x, b.x), fminf(a.y, b.y)); }

__global__ void least(float2 *y, const float *scale, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = fminf(y[threadIdx.x], make_float2(2.0f, scale ? *scale : umin(3u, 4u)));
}
__global__ void wait(int ticks, long long *ended) {
  const clock_t start = clock();
  while (clock() - start < ticks) {}
  *ended = clock64();
}
__global__ void multiply(cuComplex *z) { z[threadIdx.x] = cuCmulf(z[threadIdx.x], make_cuComplex(0, 1)); }
cudaError_t launch(const void *kernel, int threads, void **given) {
  return cudaLaunchKernel(kernel, dim3(1), dim3(threads), given, 0, 0);
}
template <class Kernel, class... Given> void call(Kernel kernel, Given... given) { kernel(given...); }
template <class T> struct Sink { T sum; };
template <class T> Sink<T> operator<<(Sink<T> to, T x) { return to.sum = x, to; }
template Sink<int> operator<< <int>(Sink<int>, int);
#define LAUNCH(n)   \\
  least             \\
      <<<1, n>>>    \\
      (y, NULL, n)

int main() {
  float2 *y;
  cuComplex *z;
  int can = 1;
  checkCudaErrors(cudaMalloc(&y, 8 * sizeof *y));
  cublasCheck(cudaMalloc((void **)&z, 8 * sizeof *z));
  float2 host[8];
  for (int i = 0; i < 8; i++) host[i] = make_float2(i, 8 - i);
  checkCudaErrors(cudaHostRegister(host, sizeof host, cudaHostRegisterMapped));
  checkCudaErrors(cudaMemcpy(y, host, sizeof host, cudaMemcpyHostToDevice));
  checkCudaErrors(cudaMemcpy(z, host, sizeof host, cudaMemcpyHostToDevice));
  LAUNCH(8);
  multiply<<<1, 8>>>(z);
  call(multiply, z);  // launches nothing
  checkCudaErrors(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
  wait << <1, 1 >> > (100000000, (long long *)y);
  if (host[1].x != 1 || host[1].y != 3 || host[7].x != 2 || host[7].y != 1) return 3;
  cuComplex turned[8];
  checkCudaErrors(cudaMemcpy(turned, z, sizeof turned, cudaMemcpyDeviceToHost));
  if (cuCrealf(turned[2]) != -6 || cuCimagf(turned[2]) != 2) return 4;
  if (cudaDeviceEnablePeerAccess(1, 0) != cudaErrorInvalidDevice) return 5;
  if (cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 1) == cudaSuccess || can) return 6;
  cudaGetLastError();
  Sink<const char *>{} << "a" << "b";
  cudaSharedMemConfig banks;
  cudaFuncCache prefers;
  unsigned int flags;
  char bus[16];
  cudaDeviceProp wanted = {};
  if (cudaDeviceGetSharedMemConfig(&banks) || cudaDeviceGetCacheConfig(&prefers)) return 8;
  if (cudaGetDeviceFlags(&flags) || cudaDeviceGetPCIBusId(bus, sizeof bus, 0) || bus[4] != ':') return 9;
  if (cudaChooseDevice(&can, &wanted) || can) return 10;
  const float *fixed;
  cudaEvent_t event;
  checkCudaErrors(cudaMalloc(&fixed, 4));
  checkCudaErrors(cudaEventCreate(&event, cudaEventDisableTiming));
  auto *turn = &multiply;
  void *given[] = {&z};
  checkCudaErrors(launch((void const *) turn, 8, given));
  checkCudaErrors(cudaMemcpy(turned, z, sizeof turned, cudaMemcpyDeviceToHost));
  if (cuCrealf(turned[2]) != -2 || cuCimagf(turned[2]) != -6) return 7;
  return 0;
}
"""


def check(path: Path) -> subprocess.CompletedProcess[str]:
    """Check a program by one run."""
    return run_forked("kfuzz", "check", str(path), "--runs", "1", "--seed", "1", cwd=Path.cwd())


def refusal(text: str) -> str:
    """Why a program is refused; empty if it is not."""
    try:
        translate([SourceFile(Path("mine.cu"), text)], ["mine.cu"], with_host=True)
    except UnsupportedError as error:
        return str(error)
    return ""


@pytest.mark.soak
def test_a_program_may_use_what_public_programs_take_from_cudas_headers(tmp_path: Path) -> None:
    (tmp_path / "habits.cu").write_text(HABITS)
    done = check(tmp_path / "habits.cu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing found: 1 run, 4 launches" in done.stdout


@pytest.mark.slow
@pytest.mark.soak
def test_a_member_may_have_the_name_of_a_template_that_its_class_has_used(tmp_path: Path) -> None:
    text = "template <class T, int N> struct R { T x; };\n"
    text += "template <class T> struct H { R<T, 2> a; using R = struct R<T, 1>; };\n"
    (tmp_path / "p.cu").write_text(text + "H<int> h;\n", encoding="utf-8")
    (source,) = parse([str(tmp_path / "p.cu")]).sources
    assert compile_source(source, ()).object.exists()


def test_a_file_for_the_hosts_compiler_may_define_functions_of_cudas_language(tmp_path: Path) -> None:
    path = tmp_path / "helper.cpp"
    path.write_text(
        "#include <cmath>\n#include <cuda_runtime.h>\n#ifndef __CUDACC__\n"
        "inline float fminf(float a, float b) { return a < b ? a : b; }\n"
        "static unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }\n"
        "inline float rsqrtf(float x) { return 1 / std::sqrt(x); }\n#endif\n"
        "float least(float a, unsigned n) { return fminf(a, std::fmaxf(rsqrtf(a), fmaxf(umin(n, 2), 0))); }\n"
    )
    assert compile_source(parse([str(path)]).sources[0], ()).object.is_file()


CONVERTS = """
#include <crt/host_config.h>
#include <sm_61_intrinsics.h>
template <class T> struct Buffer {
  T *at;
  Buffer(int n) { cudaMalloc(&at, n * sizeof(T)); }
  Buffer(const Buffer &) = delete;
  ~Buffer() { cudaFree(at); }
  operator T *() { return at; }
};
__device__ volatile int state;
struct Pair { float a; int b; };
__global__ void fill(float *x, const double by, int n = 32) {
  if (threadIdx.x < n) x[threadIdx.x] = by;
  if (threadIdx.x == 0) state = n;
}
template <class T> __global__ void times(T *x, Pair p, T by) { x[threadIdx.x] *= by * p.b; }
int main() {
  Buffer<float> b(32);
  fill<<<1, 32>>>(b, 3);
  times<float><<<1, 32>>>(b, Pair{1, 2}, 4);
  int now = 0;
  float x;
  for (int i = 0; i < 3100; i++)  // there was room for 1,300
    if (float *small; cudaMalloc(&small, 512)) return 6;
  cudaStream_t streams[1100];  // there was room for 1,024
  for (auto &one : streams)
    if (cudaStreamCreate(&one)) return 5;
  cudaMemcpyFromSymbol(&now, state, sizeof now);
  cudaMemcpyToSymbol(state, &now, sizeof now);
  cudaMemcpy(&x, b, 4, cudaMemcpyDeviceToHost);
  return now != 32 || x != 3 * 2 * 4 || cudaMemcpyToSymbol((const char *)&state, &now, 4) != cudaErrorInvalidSymbol;
}
"""


@pytest.mark.slow
def test_an_argument_that_cannot_be_copied_converts_to_the_parameter_of_the_kernel(tmp_path: Path) -> None:
    one, findings = check_text(tmp_path, CONVERTS, runs=1)
    assert ([printed.exit_code for printed in one.printed], findings) == ([0], [])


HOST_ASSEMBLY = """
static int has_sse() {
#ifdef _MSC_VER
  __asm {
    cpuid
  }
#endif
  int a = 0, b, c, d;
  asm volatile("xchg{l} %%ebx, %1\\n\\tcpuid\\n\\txchg{l} %%ebx, %1" : "=a"(a), "=r"(b), "=c"(c), "=d"(d) : "0"(1));
  return d >> 25 & 1;
}
struct Timer { unsigned now() { unsigned low, high; __asm__("rdtsc" : "=a"(low), "=d"(high)); return low; } };
struct Lane { UNKNOWN_MACRO static int lane() { int n; asm("mov.u32 %0, %laneid;" : "=r"(n)); return n; } };
__global__ void lanes(int *a) { a[threadIdx.x] = Lane::lane(); }
int main() {
  int *a;
  cudaMalloc(&a, 128);
  lanes<<<1, 32>>>(a);
  return !has_sse() || !Timer().now() || cudaDeviceSynchronize();
}
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="its assembly")
def test_assembly_of_the_host_is_the_hosts_and_that_of_kernels_ptx(tmp_path: Path) -> None:
    (tmp_path / "own.cu").write_text(HOST_ASSEMBLY)
    one, findings = check_program(built(tmp_path, str(tmp_path / "own.cu"), "-DUNKNOWN_MACRO=__device__"), runs=1)
    assert ([printed.exit_code for printed in one.printed], findings, one.launches) == ([0], [], 1)


def test_a_file_may_name_the_objects_as_cmake_does(tmp_path: Path) -> None:
    (tmp_path / "objects1").write_text("a.o 'b c.o'\n")
    assert parse([f"@{tmp_path}/objects1", "-lm"]).linked == ("a.o", "b c.o")


def test_openmp_links_its_library_and_runs_by_one_thread() -> None:
    assert parse(["-Xcompiler=-fopenmp", "a.cu"]).linked == ("-lgomp",)


@pytest.mark.soak
def test_a_long_call_of_a_library_is_no_hang(tmp_path: Path) -> None:
    (tmp_path / "long.cu").write_text(
        "#include <cublas_v2.h>\nint main() {\n  const int n = 2000;\n  const float one = 1;\n  float *a;\n"
        "  cublasHandle_t handle;\n  cublasCreate(&handle);\n  cudaMalloc(&a, 4 * n * n);\n"
        "  cudaMemset(a, 0, 4 * n * n);\n"
        "  for (int i = 0; i < 100; i++)\n"
        "    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &one, a, n);\n}\n"
    )
    words = [sys.executable, "-m", "kfuzz", "check", "long.cu", "--runs", "1", "--seed", "1", "--timeout", "0.4s"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "a run did not end after 0.4 s" in done.stdout
    assert "hang" not in done.stdout


@pytest.mark.soak
def test_a_program_that_launches_no_kernel_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "idle.cu").write_text(
        "__global__ void k() {}\nint main(int n, char **) { if (n > 9)\n k<<<1, 1>>>(); }\n"
    )
    done = check(tmp_path / "idle.cu")
    assert done.returncode == 2
    assert "idle: nothing was judged, since the program launched no kernel: 1 run, 0 launches" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "void cufftCheck(int status) {}\nint main() { cufftCheck(0); }",
        "#define cusolverTry(call) call\nint main() { cusolverTry(0); }",
        "struct Plan { void cufftRun(); };\nint main() { Plan().cufftRun(); }",
        "namespace mine { void cuStep(int); }\nint main() { mine::cuStep(1); }",
        "namespace mine::cuda { int count(); }\nint main() { return mine::cuda::count(); }",
        "int ncclRank(int);\nint main() { return ncclRank(0); }",
        "int main() { auto cuTile = [](int n) { return n; }; return cuTile(0); }",
    ],
)
def test_a_function_of_the_users_own_may_be_named_like_one_of_a_library(text: str) -> None:
    assert refusal(text) == ""


@pytest.mark.parametrize(
    ("call", "reported"),
    [
        ("cufftPlan1d(0)", "cufftPlan1d, a part of cuFFT"),
        ("ncclSend(0)", "ncclSend, a part of NCCL"),
        ("cuModuleLoad(0, 0)", "cuModuleLoad, a part of CUDA's driver API"),
    ],
)
def test_a_function_of_a_library_that_is_not_there_is_named(call: str, reported: str) -> None:
    assert refusal(f"void cufftCheck(int);\nint main() {{\n  cufftCheck({call});\n}}") == (
        f"mine.cu:3: the cpu device does not have {reported}; run this kernel with --device gpu"
    )


@pytest.mark.soak
def test_what_only_an_inactive_or_unreached_line_takes_from_a_library_does_not_count(tmp_path: Path) -> None:
    path, helper = tmp_path / "device.cu", "#if CUDART_VERSION < 5000\nvoid ask() { cuInit(0); }\n#endif\n"
    path.write_text(f"{helper}int idle(cufftHandle plan) {{ return cufftDestroy(plan); }}\nint main() {{}}\n")
    assert compile_source(parse([str(path)]).sources[0], ()).object.is_file()
    path.write_text(f"{helper}int main() {{ cufftHandle plan; }}\n")
    with pytest.raises(
        UnsupportedError, match=r"device\.cu:4: the cpu device does not have cufftHandle, a part of cuFFT"
    ):
        compile_source(parse([str(path)]).sources[0], ())


def test_code_for_pytorch_is_refused_in_a_line_that_says_what_to_run(tmp_path: Path) -> None:
    path = tmp_path / "rows.cu"
    path.write_text("#include <torch/extension.h>\nPYBIND11_MODULE(rows, m) {}\n")
    with pytest.raises(ClaimError, match=r"extension of PyTorch, not a program; kfuzz fuzz .*rows\.cu --op OP checks"):
        compile_source(parse([str(path)]).sources[0], ())
    path.write_text("#include <torch/extension.h>\nint main() {}\n")
    with pytest.raises(ClaimError, match=r"rows\.cu: this program needs PyTorch's C\+\+ library"):
        compile_source(parse([str(path)]).sources[0], ())


CALLED = """
#include <cstdio>
__global__ void set(int *x) { *x = 7; }
template <class Kernel, class... Given> void call(Kernel kernel, Given... given) { kernel(given...); }
int main() {
  int *x, host = 1;
  if (cudaMalloc(&x, sizeof host) || cudaMemcpy(x, &host, sizeof host, cudaMemcpyHostToDevice)) return 2;
  call(set, x);
  cudaError_t error = cudaGetLastError();
  if (cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost)) return 3;
  printf("%d %s\\n", host, cudaGetErrorName(error));
}
"""


NOT_CONFIGURED = "1 cudaErrorMissingConfiguration\n"


def output_of_called(folder: Path, compiler: list[str]) -> str:
    (folder / "called.cu").write_text(CALLED)
    subprocess.run([*compiler, "called.cu", "-o", "called"], cwd=folder, check=True)
    return subprocess.run([str(folder / "called")], capture_output=True, text=True, check=True).stdout


@pytest.mark.soak
def test_a_kernel_that_the_host_calls_as_a_function_does_nothing(tmp_path: Path) -> None:
    assert output_of_called(tmp_path, [sys.executable, "-m", "kfuzz", "nvcc"]) == NOT_CONFIGURED


@pytest.mark.gpu
def test_a_gpu_gives_the_same_error(tmp_path: Path) -> None:
    assert output_of_called(tmp_path, [nvcc.find_nvcc()]) == NOT_CONFIGURED


OWN_NAMES = r"""
typedef unsigned long long uint64_t;
typedef struct __align__(64) { uint64_t opaque[16]; } CUtensorMap;
#include <cuda/cmath>
#include <cuda.h>
thread_local int mine = 3;
int next() { thread_local int n = 0; const thread_local int first = 10; return first + n++; }
int more() { static thread_local int n = 0; return ++n; }
template <class T> struct Made {
  struct Part { T x[2]; };
  template <int n> static unsigned times(unsigned v) { return n * v; }
};
template <class T> unsigned left_out(unsigned v) { return sizeof(Made<T>::Part) / sizeof(T) * Made<T>::times<3>(v); }
__global__ void k(unsigned *a, cuda::fast_mod_div<unsigned> d) {
  a[threadIdx.x] += threadIdx.x / d + 100 * (threadIdx.x % d);
}
template <int step, int n> __global__ void add(unsigned *a) { a[threadIdx.x] += step * n; }
int main() {
  unsigned *a, h[32];
  cudaMalloc(&a, sizeof h);
  cudaMemset(a, 0, sizeof h);
  auto timed = [&](auto launch) { launch(); };
  constexpr int n = 16, step = 2;
  timed([&] { add<step, n><<<1, n>>>(a); });
  timed([&] {
    add<n, step><<<1, n>>>(a);
  });
  if (cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(a), 1000, 32, nullptr)) return 1;
  k<<<1, 32>>>(a, cuda::fast_mod_div<unsigned>(5));
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < 32; i++)
    if (h[i] != 1000 + i / 5 + 100 * (i % 5)) return 2;
  if (left_out<float>(7) != 42) return 4;
  next(), more();
  return mine + next() + more() == 3 + 11 + 2 ? 0 : 3;
}
"""


@pytest.mark.slow
def test_what_nvcc_takes_compiles_own_integers_variables_of_a_thread_and_more(tmp_path: Path) -> None:
    (tmp_path / "own.cu").write_text(OWN_NAMES)
    one, findings = check_program(built(tmp_path, str(tmp_path / "own.cu")))
    assert findings == []
    assert {run.exit_code for run in one.printed} == {0}


OF_ONE_FILE = """
extern __shared__ T moved[];
__device__ T given = N;
__constant__ T factor[1];
__shared__ T part[32];
static __global__ void fill(T *x) {
  moved[threadIdx.x] = given, part[threadIdx.x] = factor[0];
  __syncthreads();
  x[threadIdx.x] = moved[31 - threadIdx.x] * part[31 - threadIdx.x];
}
T RUN() {
  T *x, once = 10, all[32];
  cudaMalloc(&x, sizeof all);
  cudaMemcpyToSymbol(factor, &once, sizeof once);
  fill<<<1, 32, sizeof all>>>(x);
  cudaMemcpy(all, x, sizeof all, cudaMemcpyDeviceToHost);
  return all[0];
}
"""


@pytest.mark.soak
def test_each_file_has_its_own_variables_and_arrays_of_one_name(tmp_path: Path) -> None:
    first = f"#define T int\n#define N 3\n#define RUN ints\n{OF_ONE_FILE}"
    second = f"#define T double\n#define N 5\n#define RUN doubles\n{OF_ONE_FILE}int ints();\n"
    (tmp_path / "a.cu").write_text(first)
    (tmp_path / "b.cu").write_text(f"{second}int main() {{ return ints() == 30 && doubles() == 50 ? 0 : 1; }}\n")
    one, findings = check_program(built(tmp_path, str(tmp_path / "a.cu"), str(tmp_path / "b.cu")))
    assert findings == []
    assert {run.exit_code for run in one.printed} == {0}
