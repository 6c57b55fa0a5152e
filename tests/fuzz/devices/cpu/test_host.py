"""Host functions on the cpu device: their launches and allocations, what they must not touch, and how they refuse."""

from pathlib import Path

import numpy as np
import pytest
from planted_jobs import expected_if, source

from kfuzz.common.text.headers import SourceFile
from kfuzz.devices import Buffer, Call, Job, Outcome, Probe, Refusal, Step, UnsupportedError
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.translate import translate
from kfuzz.oracle.numbers.elements import F32

N = 40
X = np.arange(1, N + 1, dtype=np.float32)

RIGHT = (
    "copies",
    "copies_by_macro",
    "copies_by_pointer",
    "copies_in_a_lambda",
    "by_way_of_the_host",
    "by_managed_memory",
    "by_constant_and_shared",
    "by_streams",
    "by_occupancy",
    "starts_afresh",
)
REFUSALS = {
    "exits": "it calls exit(3)",
    "throws": f"takes n <= {N - 1}",
    "asserts": "assertion failed: n < 0",
    "checks": "it calls exit(1)",
}
WRONG = {
    "reads_device_memory": "the host reads x[0], which is device memory",
    "writes_device_memory": "the host writes y[0], which is device memory",
    "copies_device_memory": "which is device memory",
    "launches_too_many": "a block of more than 1024 threads, or 64 along z (grid 1x1x1, block 2048",
    "launches_nothing": "an empty grid (grid 0x1x1, block 256x1x1); the host does not check the error",
    "cooperates_too_widely": "a cooperative grid of more blocks than are resident at once",
    "asks_for_too_much": "more shared memory than the kernel is allowed",
    "allows_another": "61440 bytes of shared memory",
    "copies_too_much": f"{8 * N} bytes from y[0] on, where the array has only {4 * N} left",
    "sets_too_much": "the host writes 20 bytes from small[0] on, where the array has only 16 left",
    "faults": "the host's own code crashes with SIGSEGV",
}
"""What the message says; the kind and the line are marked in the file."""
CHECKED = {
    "uses_freed_memory": (
        "use-after-free",
        "writes gone[0]; gone has 40 floats (cudaMalloc, host.cu:210), and line 211 frees it",
    ),
    "writes_beyond_what_it_has": (
        "out-of-bounds",
        "thread 0 writes small[4]; small has 4 floats (cudaMalloc, host.cu:226)",
    ),
    "gives_a_host_pointer": ("illegal-address", "which is in no array"),
}
"""Bugs that a checked run names; a plain run sees nothing of the last one."""


def job(name: str, n: int = N) -> Job:
    call = Call(name, ("y", "x", "n"), ("float *y", "float *x", "int n"), on_host=True)
    buffers = (Buffer("y", F32, (n,), is_output=True), Buffer("x", F32, (n,), X[:n].copy()))
    step = Step(call, (1, 1, 1), (1, 1, 1), 0, ("y", "x", n))
    every = tuple(
        Call(one, call.arguments, call.declared, on_host=True) for one in (*RIGHT, *REFUSALS, *WRONG, *CHECKED, *OTHERS)
    )
    return Job("host", Path("host.cu"), source("host"), (), 256, buffers, (step,), every)


OTHERS = ("tries_and_falls_back", "adds_to_nothing", "never_ends")


def run(cpu: CpuDevice, name: str, check: bool = False, n: int = N, timeout: float = 10.0) -> Outcome:
    return cpu.run(job(name, n), Probe(check=check, timeout=timeout))


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_host_function_runs_without_a_finding(cpu: CpuDevice, name: str, check: bool) -> None:
    outcome = run(cpu, name, check)
    assert (outcome.findings, outcome.refusal) == ((), None)
    assert len(outcome.runs) == 3
    assert all((one.outputs["y"] == X).all() for one in outcome.runs)


@pytest.mark.slow
def test_a_refused_launch_that_the_host_replaces_is_a_warning(cpu: CpuDevice) -> None:
    outcome = run(cpu, "tries_and_falls_back")
    found = [(one.severity, one.kind, one.line) for one in outcome.findings]
    assert found == [expected_if("host", "tries_and_falls_back")]
    assert (outcome.runs[0].outputs["y"] == X).all()


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_reported_and_is_not_a_finding(cpu: CpuDevice, name: str) -> None:
    outcome = run(cpu, name)
    assert outcome.refusal
    assert REFUSALS[name] in outcome.refusal.words
    assert (outcome.findings, outcome.runs) == ((), ())


def test_a_refusal_concerns_only_these_arguments(cpu: CpuDevice) -> None:
    assert run(cpu, "copies_by_pointer", n=2).refusal == Refusal("too short for this")
    assert run(cpu, "copies_by_pointer", n=4).refusal is None


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_a_bug_of_the_host_is_found_at_its_line(cpu: CpuDevice, name: str, check: bool) -> None:
    severity, kind, line = expected_if("host", name)
    (found,) = [one for one in run(cpu, name, check).findings if one.kind == kind]
    assert WRONG[name] in found.message
    assert (found.severity, found.line) == (severity, line)


@pytest.mark.parametrize("name", CHECKED)
def test_a_checked_run_finds_bugs_of_a_kernel_with_the_hosts_arrays(cpu: CpuDevice, name: str) -> None:
    kind, words = CHECKED[name]
    found = [one for one in run(cpu, name, check=True).findings if one.kind == kind]
    assert len(found) == 1
    assert words in found[0].message


def test_a_plain_run_sees_the_traces_of_a_write_to_freed_memory(cpu: CpuDevice) -> None:
    assert {one.kind for one in run(cpu, "uses_freed_memory").findings} == {"use-after-free"}


def test_memory_that_the_host_allocates_is_poisoned(cpu: CpuDevice) -> None:
    assert "uninitialised" in {one.kind for one in run(cpu, "adds_to_nothing").findings}
    assert "uninitialised" in {one.kind for one in run(cpu, "adds_to_nothing", check=True).findings}


@pytest.mark.slow
def test_a_host_function_that_never_ends_is_a_hang(cpu: CpuDevice) -> None:
    assert [one.kind for one in run(cpu, "never_ends", timeout=0.5).findings] == ["hang"]


def test_the_output_of_a_host_function_is_noted(cpu: CpuDevice) -> None:
    assert run(cpu, "starts_afresh").notes == ("the kernel printed: seen 1\n",)


def test_a_tensor_map_is_made_by_the_drivers_function_itself() -> None:
    text = "void make(CUtensorMap *map) {{ {}(map); }}\nvoid run(CUtensorMap *map) {{ make(map); }}\n"
    path = Path("k.cu")
    made = translate([SourceFile(path, text.format("cuTensorMapEncodeTiled"))], entries=("run",), with_host=True)
    assert "cuTensorMapEncodeTiled(map)" in made.texts[0]
    with pytest.raises(UnsupportedError, match="cuTensorMapEncodeIm2col, a part of CUDA's driver API"):
        translate([SourceFile(path, text.format("cuTensorMapEncodeIm2col"))], entries=("run",), with_host=True)


@pytest.mark.parametrize(
    ("function", "is_checked"),
    [
        ("void f(float *a) { a[0] = 1; }", False),
        ("template <typename T, int N = 4> void f(T *a) { a[N] = 1; }", False),
        ("template <template <class> class V, class T> void f(V<T> *a) { a[0] = 1; }", False),
        ("template <class T> __device__ void f(T *a) { a[0] = 1; }", True),
        ("template <class T> requires true void f(T *a) { a[0] = 1; }", True),
        ("template <class T> constexpr void f(T *a) { a[0] = 1; }", True),
        ("template <class T> IN_BOTH void f(T *a) { a[0] = 1; }", True),
        ("template <class T> void A<T>::f(T *a) { a[0] = 1; }", True),  # the class may say __device__
        ("template <int N, bool B = (N > 4)> void f(float *a) { a[N] = B; }", True),
    ],
)
def test_accesses_of_functions_that_only_the_host_can_call_are_not_checked(function: str, is_checked: bool) -> None:
    text = f"__global__ void k(int *a) {{ a[0] = 1; }}\n{function}\n"
    made = translate([SourceFile(Path("k.cu"), text)], ["k.cu"], with_host=True).texts[0]
    assert ("no_sanitize" in made.splitlines()[1]) != is_checked
