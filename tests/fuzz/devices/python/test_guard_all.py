"""The allocator of --guard-all under torch, with a driver of the host's memory; and, on a GPU, with torch itself."""

import ctypes
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from paths import DATA
from wrong_twins import list_callables

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.campaign.trials.unjudged import unjudged_text
from kfuzz.claims.kernel import load
from kfuzz.devices import DeviceError, host_compiler
from kfuzz.devices.python.device import PythonDevice
from kfuzz.devices.python.guards import Guards, library
from kfuzz.devices.python.lending import BESIDE_BYTES, ITS_OWN
from kfuzz.ui.commands.group import main

EXHIBITS = DATA / "guarded"
FAKE = DATA / "fake_driver.cpp"
WORD = 0x7FBADBAD
REFUSED = ("counts_its_memory", "graph")
"""What the allocator cannot do, and is no fault of theirs."""


class Gpu:
    """The allocator, and a GPU of the host's memory below it."""

    def __init__(self) -> None:
        driver = host_compiler.build_library(FAKE)
        self.driver = ctypes.CDLL(str(driver))
        self.guards = Guards(library(), hears_of_lending=True, driver=str(driver))
        self.guards.begin(WORD)
        self._allocate = self.guards.library.kfuzz_allocate
        self._allocate.restype = ctypes.c_void_p

    def allocate(self, nbytes: int, stream: int = 0) -> int:
        return int(self._allocate(ctypes.c_ssize_t(nbytes), 0, ctypes.c_void_p(stream)))

    def free(self, address: int) -> None:
        self.guards.library.kfuzz_free(ctypes.c_void_p(address), ctypes.c_ssize_t(0), 0, None)

    def messages(self) -> list[str]:
        return [f"{one.severity} {one.kind}: {one.message}" for one in self.guards.findings()]


@pytest.fixture
def gpu() -> Iterator[Gpu]:
    made = Gpu()
    yield made
    made.messages()


def put(address: int, content: bytes) -> None:
    ctypes.memmove(address, content, len(content))


def test_what_is_allocated_holds_poison_and_bases_are_as_aligned_as_torchs(gpu: Gpu) -> None:
    address = gpu.allocate(120)
    assert address % 512 == 0
    assert np.frombuffer(ctypes.string_at(address, 120), np.uint32).tolist() == [WORD] * 30
    gpu.free(address)
    assert gpu.messages() == []


@pytest.mark.parametrize(
    ("nbytes", "at", "content", "message"),
    [
        (120, 132, b"abcd", "write 12 bytes after 120 bytes that the callable allocates, 4 bytes in all"),
        (3, 3, b"a", "write 0 bytes after 3 bytes that the callable allocates, 1 byte in all"),
        (120, -1, b"a", "write 1 byte before 120 bytes that the callable allocates, 1 byte in all"),
        (512, 511 + BESIDE_BYTES, b"a", "write 4095 bytes after 512 bytes that the callable allocates, 1 byte in all")
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_freed", [False, True])
def test_a_write_beside_an_allocation_is_reported_once(
    gpu: Gpu, nbytes: int, at: int, content: bytes, message: str, is_freed: bool
) -> None:
    address = gpu.allocate(nbytes)
    put(address + at, content)
    if is_freed:
        gpu.free(address)
    (found,) = gpu.guards.findings()
    assert (found.severity, found.kind, found.message, found.array) == ("error", "out-of-bounds", message, ITS_OWN)
    assert gpu.messages() == []


def test_a_write_inside_an_allocation_is_not_reported(gpu: Gpu) -> None:
    address = gpu.allocate(121)
    put(address, bytes(121))
    assert gpu.messages() == []
    gpu.free(address)
    assert gpu.messages() == []


def test_a_write_to_what_is_freed_is_a_warning_unless_another_stream_was_lent_it(gpu: Gpu) -> None:
    one, other = gpu.allocate(64), gpu.allocate(64)
    gpu.guards.library.kfuzz_lend(ctypes.c_void_p(other), ctypes.c_void_p(7))
    for address in (one, other):
        gpu.free(address)
        put(address + 8, b"late")
    assert gpu.messages() == [
        "warning use-after-free: byte 8 of 64 bytes that torch allocates is written after they are freed"
    ]


def test_what_is_freed_is_had_again_in_its_own_stream_and_only_once_it_was_looked_at(gpu: Gpu) -> None:
    one = gpu.allocate(64, stream=5)
    gpu.free(one)
    assert gpu.allocate(64, stream=5) != one
    gpu.messages()
    assert gpu.allocate(64, stream=6) != one
    assert gpu.allocate(64, stream=5) == one


def test_a_gpu_that_is_full_gives_what_was_freed(gpu: Gpu) -> None:
    for _ in range(100):
        gpu.free(gpu.allocate(100_000))
    assert gpu.driver.fake_given() < 1 << 20


@pytest.mark.parametrize(("driver", "missing"), [("libnowhere.so", "libnowhere.so"), ("libm.so.6", "cuMemAlloc_v2")])
def test_what_a_driver_lacks_is_named(driver: str, missing: str) -> None:
    with pytest.raises(DeviceError, match=f"--guard-all: {driver} has no {missing}"):
        Guards(library(), hears_of_lending=True, driver=driver)


def test_on_a_cpu_guard_all_says_that_it_is_of_a_gpu() -> None:
    ran = CliRunner().invoke(main, ["fuzz", "softmax/naive_block", "--device", "cpu", "--guard-all"])
    assert ran.exit_code == 2
    assert "--guard-all needs a gpu" in ran.output


@pytest.fixture(scope="module")
def guarded() -> Iterator[PythonDevice]:
    opened = PythonDevice("gpu", guard_all=True)
    yield opened
    opened.close()


def trials(path: Path, device: PythonDevice, count: int = 12) -> Iterator[Trial]:
    kernel = load(path)
    for index in range(count):
        attempt = attempt_of(kernel, 5, index)
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, 5, index, 3, 3.0))


@pytest.mark.gpu
@pytest.mark.parametrize("path", list_callables(EXHIBITS), ids=lambda path: path.stem)
def test_what_torch_allocates_on_a_gpu_is_guarded(path: Path, guarded: PythonDevice) -> None:
    pytest.importorskip("torch")
    found = list(trials(path, guarded))
    kinds = {defect.kind for trial in found for defect in trial.errors}
    reported = [defect.message for trial in found for defect in trial.errors] + [
        unjudged_text(r) for one in found for r in one.reasons
    ]
    assert kinds == ({"out-of-bounds"} if path.stem.startswith("wrong_") else set()), reported[:3]
    assert sum(trial.elements for trial in found) > 20 or path.stem in REFUSED, reported[:3]
    assert path.stem not in REFUSED or all("not under --guard-all" in one for one in reported), reported[:3]
