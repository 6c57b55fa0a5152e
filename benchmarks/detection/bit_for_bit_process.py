"""The process of bit_for_bit for one kernel: `python -m benchmarks.detection.bit_for_bit_process FOLDER`.

Records what Triton launches on a GPU, and runs it again on the cpu device; prints a line of JSON for each launch.
"""

import hashlib
import json
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from triton.backends.nvidia.driver import CudaLauncher
from triton.compiler.compiler import CompiledKernel

from benchmarks.measurement import Record
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.triton.arguments import PassedValue, flatten_arguments
from kfuzz.devices.python.triton.driver import compiled
from kfuzz.devices.python.triton.launches import launch as launch_on_cpu

MOST_LAUNCHES, MOST_BYTES, MOST_THREADS = 8, 1 << 25, 1 << 19
"""Of a folder; of a launch's arrays, and of its threads: the cpu device runs one thread at a time."""
NOT_IEEE = {
    "products": r"\b(?:wgmma|mma|tcgen05)\.",
    "atomic": r"\b(?:atom|red)\.(?:\w+\.|\w+::\w+\.)*add\.(?:noftz\.)?(?:f|bf)",
    "approximate": r"\b(?:ex2|lg2|sin|cos|tanh|rcp|rsqrt|sqrt|div)\.(?:approx|full)",
}
"""Instructions whose results another device may give otherwise; the first that a kernel has names its kind."""
WHOLE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
Grid = tuple[int, int, int]
Untyped = Any
"""A thing of Triton's."""


@dataclass
class Launch:
    """A launch on the GPU: the compiled kernel, its grid and arguments, and its arrays as they were and are."""

    kernel: Untyped
    grid: Grid
    arguments: list[PassedValue]
    before: dict[int, torch.UntypedStorage]
    after: dict[int, torch.UntypedStorage]


def tensor_of(one: PassedValue) -> Untyped:
    """An argument's value; of a tensor in another type, the tensor."""
    return getattr(one.value, "base", one.value)


class Recorder:
    """Keeps launches of Triton's own driver."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.left_out: list[Record] = []
        self._seen: set[str] = set()

    def install(self) -> None:
        """Stand in the place of the launcher of each kernel."""
        begin, launch, kernels = CompiledKernel._init_handles, CudaLauncher.__call__, {}

        def note(kernel: Untyped) -> None:
            begin(kernel)
            kernels[kernel.function] = kernel

        def record(launcher: Untyped, x: int, y: int, z: int, stream: int, function: int, *given: Untyped) -> None:
            def run() -> None:
                launch(launcher, x, y, z, stream, function, *given)

            kernel = kernels.get(function)
            if kernel is None or x * y * z == 0:
                run()
            else:
                self.record(kernel, (x, y, z), given[4:], run)

        CompiledKernel._init_handles, CudaLauncher.__call__ = note, record

    def record(self, kernel: Untyped, grid: Grid, given: Sequence[Untyped], run: Callable[[], None]) -> None:
        """Launch, and keep the launch if it is a new one."""
        text = hashlib.sha256(kernel.asm["ptx"].encode()).hexdigest()
        if text in self._seen or len(self.launches) == MOST_LAUNCHES:
            run()
            return
        self._seen.add(text)
        described = getattr(kernel.metadata, "tensordesc_meta", None) or ()
        arguments = list(flatten_arguments(dict(kernel.src.signature), given, described))
        held = {
            one.untyped_storage().data_ptr(): one.untyped_storage()
            for one in map(tensor_of, arguments) if isinstance(one, torch.Tensor)
        }  # fmt: skip
        why = why_not(kernel, grid, arguments, sum(one.nbytes() for one in held.values()))
        if why:
            self.left_out.append({"kernel": kernel.name, "kind": "left out", "why": why})
            run()
            return
        before = {at: one.cpu() for at, one in held.items()}
        run()
        torch.cuda.synchronize()
        self.launches.append(Launch(kernel, grid, arguments, before, {at: one.cpu() for at, one in held.items()}))


def why_not(kernel: Untyped, grid: Grid, arguments: Sequence[PassedValue], nbytes: int) -> str:
    """Why a launch is not compared; empty if it is."""
    if any(one.type.startswith("tensordesc") for one in arguments):
        return "a tensor descriptor of the host"
    if "tt.int_to_ptr" in kernel.asm.get("ttir", ""):
        return "pointers made of integers"
    threads = grid[0] * grid[1] * grid[2] * 32 * kernel.metadata.num_warps
    return "too large" if nbytes > MOST_BYTES or threads > MOST_THREADS else ""


def kind_of(text: str) -> str:
    """What of a kernel's arithmetic is not IEEE's."""
    return next((kind for kind, mark in NOT_IEEE.items() if re.search(mark, text)), "exact")


def seen(memory: torch.UntypedStorage, dtype: torch.dtype) -> torch.Tensor:
    """All of a memory as one row of numbers."""
    return torch.empty(0, dtype=dtype).set_(memory, 0, (memory.nbytes() // dtype.itemsize,))


def replay(launch: Launch) -> Record:
    """Run a launch on the cpu device: how many elements of its arrays differ, and by how much at most."""
    kernel, text = launch.kernel, launch.kernel.asm["ptx"]
    copies = {at: one.clone() for at, one in launch.before.items()}
    arguments, types = [], {}
    for one in launch.arguments:
        value = tensor_of(one)
        if isinstance(value, torch.Tensor):
            at, place = value.untyped_storage().data_ptr(), (value.storage_offset(), value.shape, value.stride())
            types.setdefault(at, value.dtype)
            value = torch.empty(0, dtype=value.dtype).set_(copies[at], *place)
        arguments.append(PassedValue(one.name, one.type, value, one.about))
    began = time.monotonic()
    launch_on_cpu(compiled(text, kernel.metadata, kernel.src.ext == "ttgir"), launch.grid, arguments)
    made = {"kernel": kernel.name, "kind": kind_of(text), "seconds": round(time.monotonic() - began, 2)}
    elements = changed = different = 0
    largest = 0.0
    for at, dtype in types.items():
        first, there, here = (seen(one[at], dtype) for one in (launch.before, launch.after, copies))
        same = same_bits(here, there)
        elements, changed = elements + len(same), changed + int((~same_bits(first, there)).sum())
        different += int((~same).sum())
        largest = max(largest, largest_difference(here[~same], there[~same], there))
    return {**made, "elements": elements, "changed": changed, "different": different, "largest": largest}


def same_bits(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Which elements have the same bits, or are NaN both."""
    same = one.view(WHOLE[one.element_size()]) == other.view(WHOLE[one.element_size()])
    return same | (one.double().isnan() & other.double().isnan()) if one.is_floating_point() else same


def largest_difference(here: torch.Tensor, there: torch.Tensor, every: torch.Tensor) -> float:
    """As a part of the largest number; infinite where one of two is no number."""
    if not here.numel():
        return 0.0
    scale = every.double().nan_to_num(0, 0, 0).abs().max()
    return float(((here.double() - there.double()).abs() / scale).nan_to_num(torch.inf).max())


def on_gpu(one: Untyped) -> Untyped:
    """An input with all of its tensors on the GPU."""
    if isinstance(one, list | tuple) and not hasattr(one, "_fields"):
        return type(one)(on_gpu(part) for part in one)
    if isinstance(one, dict):
        return {name: on_gpu(part) for name, part in one.items()}
    return one.cuda() if isinstance(one, torch.Tensor) else one


def rows_of(folder: Path) -> Iterator[Record]:
    """A row for each launch of a folder's solution."""
    sys.path.insert(0, str(folder))
    recorder = Recorder()
    recorder.install()
    problem, solution = __import__("problem"), __import__("solution")
    torch.manual_seed(0)
    try:
        solution.solution(*on_gpu(list(problem.get_inputs())))
    finally:
        CALLS.file = folder / "solution.py"
        yield from recorder.left_out
        for launch in recorder.launches:
            try:
                yield replay(launch)
            except Exception as error:  # of the cpu device: a refusal
                why = f"{type(error).__name__}: {error}".replace("\n", " ")[:200]
                yield {"kernel": launch.kernel.name, "kind": "refused", "why": why}


if __name__ == "__main__":
    try:
        for row in rows_of(Path(sys.argv[1])):
            print(json.dumps(row), flush=True)
    except Exception as error:  # of the kernel's own code
        traceback.print_exc()
        sys.exit(f"{type(error).__name__}: {error}".replace("\n", " ")[:300])
