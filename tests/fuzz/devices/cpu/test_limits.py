"""The cpu device in a process whose memory is limited: it reserves 12 GB of addresses and touches few of them."""

import os
import subprocess
import sys

import pytest
from paths import ROOT

KERNEL = ROOT / "kernels" / "softmax" / "online_block.cu"
PROGRAM = """
import resource, sys
from pathlib import Path
limit, most, elements = getattr(resource, sys.argv[1]), int(sys.argv[2]) << 20, int(sys.argv[3])
from kfuzz.devices.cpu.toolchain import build_runtime
build_runtime()
resource.setrlimit(limit, (min(most, int(sys.argv[4]) << 20), most))
import numpy as np
from kfuzz.claims.kernel import load
from kfuzz.devices import Buffer, DeviceError, Job, Probe, Step
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.oracle.numbers.elements import F32
head = '__global__ void twice(float *y, const float *x) '
text = head + '{ int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = 2 * x[i]; }'
wrong = text.replace('y[i] = 2', 'y[i + (i == 0) * ' + str(elements) + '] = 2')
device = CpuDevice()
for one in (text, wrong):
    x = Buffer('x', F32, (elements,), content=np.ones(elements, np.float32))
    y = Buffer('y', F32, (elements,), is_output=True)
    step = Step('twice', (elements // 256, 1, 1), (256, 1, 1), 0, ('y', 'x'))
    job = Job('twice', Path('twice.cu'), one, (), 64, (x, y), (step,), ('twice',))
    try:
        outcome = device.run(job, Probe(check=True, runs=1, seed=0, timeout=20.0))
    except DeviceError as error:
        print(error)
        break
    print(*(finding.kind for finding in outcome.findings if finding.severity == 'error'), len(outcome.runs))
"""


def run_limited(limit: str, megabytes: int, elements: int = 1024, soft: int | None = None) -> list[str]:
    """What the errors of a right and of a wrong kernel are, and how many runs each has, by lines."""
    words = [limit, str(megabytes), str(elements), str(megabytes if soft is None else soft)]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_kernels_run_where_a_process_may_write_4_gb() -> None:
    """A shadow that was writable from the start counted whole, with 9.1 GB."""
    assert run_limited("RLIMIT_DATA", 4096) == ["1", "out-of-bounds unwritten 2"]


@pytest.mark.slow
def test_the_limit_of_a_python_process_is_not_that_of_the_cpu_device() -> None:
    """A callable's process may have 2 GB, and the device that it starts for its CUDA inherits that limit."""
    assert run_limited("RLIMIT_DATA", 1 << 20, soft=2048) == ["1", "out-of-bounds unwritten 2"]


@pytest.mark.soak
def test_a_right_kernel_is_not_accused_where_the_limit_allows_no_checks_of_its_arrays() -> None:
    """Two arrays of 100 MB have a shadow of 1.7 GB, and at some place or other the limit is met."""
    right, wrong = run_limited("RLIMIT_DATA", 4096, 25 << 20)
    assert right.isdigit()
    assert wrong.isdigit() or "out-of-bounds" in wrong


@pytest.mark.slow
def test_a_limit_of_addresses_is_named_with_what_the_device_needs() -> None:
    assert run_limited("RLIMIT_AS", 4096) == [
        "the cpu device cannot reserve 12 GB of addresses, of which it uses few; ulimit -v is 4.3 GB: raise it or "
        "remove it"
    ]


STOPPED = """
from pathlib import Path
from kfuzz.devices import Probe
from kfuzz.devices.cpu.backend import CpuBackend
from planted_jobs import job_of
waits = '''__global__ void k(int *y) {
    if (blockIdx.x == gridDim.x - 1) atomicExch(y, 1);
    while (!atomicAdd(y, 0)) {
    }
}'''
backend = CpuBackend()
stopped = job_of(waits, ("k",), "k", {"y": "i32[1] = 0"}, block=1, grid=5000)
finished = job_of("__global__ void k(int *y) { *y = 1; }", ("k",), "k", {"y": "i32[1]"}, block=1)
for one in (stopped, finished):
    found = backend.run(one, Probe(runs=2, timeout=20.0), lambda words: None).findings
    print(*{finding.kind for finding in found}, Path("/proc/self/statm").read_text().split()[0])
"""


@pytest.mark.slow
def test_a_stopped_grid_gives_its_shared_memory_back_at_once() -> None:
    """Thousands of waiting blocks took so many addresses and mappings that no later kernel could be loaded."""
    path = os.pathsep.join([*sys.path, str(ROOT / "tests" / "helpers")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, check=True, env=environment)
    kind, stopped, finished = done.stdout.split()
    assert kind == "hang"
    assert int(stopped) <= int(finished)
