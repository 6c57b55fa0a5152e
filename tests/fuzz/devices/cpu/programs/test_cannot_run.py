"""Programs that kfuzz cannot run: one line says why, and nothing in them is reported as a defect."""

from pathlib import Path

import pytest
from program_runs import check_text as check

from kfuzz.devices import ClaimError, UnsupportedError
from kfuzz.devices.cpu.programs.server import describe_status


@pytest.mark.slow
def test_memory_that_is_not_there_ends_the_run_and_is_no_finding(tmp_path: Path) -> None:
    one, findings = check(
        tmp_path,
        "__global__ void set(float *a) { a[threadIdx.x] = 1; }\n"
        "int main() { float *a; cudaMalloc(&a, 9l << 30); set<<<1, 32>>>(a); return cudaDeviceSynchronize(); }\n",
    )
    assert findings == []
    assert "own.cu:2: needs 9663676416 bytes more for an array; the cpu device has " in one.refusal


def test_thread_local_variables_of_a_host_with_threads_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"own\.cu:2: the cpu device does not have thread_local variables"):
        check(
            tmp_path,
            "#include <thread>\nthread_local int mine = 3;\nint main() { std::thread([] {}).join(); return mine; }\n",
        )


def test_a_static_array_of_100_gb_is_refused_in_one_line(tmp_path: Path) -> None:
    text = "__global__ void k(float *y) { __shared__ float s[25000000000]; s[0] = 1; y[0] = s[threadIdx.x]; }\n"
    with pytest.raises(ClaimError) as refused:
        check(tmp_path, f"{text}int main() {{ k<<<1, 32>>>(nullptr); }}\n")
    assert str(refused.value) == (
        "__shared__ s has 100000000000 bytes; a static array has at most 49152; "
        "a larger one must be dynamic (extern __shared__)"
    )


def test_a_process_that_is_killed_proves_nothing() -> None:
    assert describe_status(-9) == "its process ended by SIGKILL, past the checker, as without memory"
    assert describe_status(3) == "its process ended with exit status 3, past the checker"
    assert describe_status(-61) == "its process ended by signal 61, past the checker"


@pytest.mark.slow
def test_static_shared_memory_counts_beside_dynamic(tmp_path: Path) -> None:
    text = (
        "template <int n> __global__ void sum(int *a) {\n"
        "  extern __shared__ int d[];\n"
        "  __shared__ int s[n];\n"
        "  s[threadIdx.x] = d[threadIdx.x] = 1;\n"
        "  a[threadIdx.x] = s[threadIdx.x] + d[threadIdx.x];\n"
        "}\n"
        "int main(int argc, char **argv) {\n"
        "  int *a;\n"
        "  cudaMalloc(&a, 128);\n"
        "  if (argc > 2) cudaFuncSetAttribute(sum<1024>, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10);\n"
        "  sum<1024><<<1, 32, argc > 2 ? 48 << 10 : argc > 1 ? 45 << 10 : 44 << 10>>>(a);\n"
        "  return cudaDeviceSynchronize();\n"
        "}\n"
    )
    assert check(tmp_path, text)[1] == []
    assert [one.kind for one in check(tmp_path, text, "more")[1]] == ["launch-refused"]
    assert check(tmp_path, text, "much", "more")[1] == []  # it is of dynamic memory alone


@pytest.mark.slow
def test_a_kernel_with_a_cluster_of_its_own_is_not_run_without_it(tmp_path: Path) -> None:
    text = (
        "#include <cooperative_groups.h>\n"
        "template <int n> __global__ void __cluster_dims__(n, 1) k(int *a) {\n"
        "  a[blockIdx.x] = cooperative_groups::this_cluster().num_blocks();\n"
        "}\n"
        "int main() {\n  int *a;\n  cudaMalloc(&a, 16);\n"
        "  auto pointer = k<2>;\n  pointer<<<4, 1>>>(a);\n  return cudaDeviceSynchronize();\n}\n"
    )
    one, findings = check(tmp_path, text, runs=1)
    assert findings == []
    assert one.refusal.startswith("a kernel with __cluster_dims__ is launched through a pointer")
