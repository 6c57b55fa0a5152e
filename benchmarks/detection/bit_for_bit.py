"""Launches of public Triton kernels on a GPU, and the same PTX on the cpu device: are all bits equal?

    python -m benchmarks.detection measure bit_for_bit FOLDER... [--jobs 2] [--keep FILE]

A FOLDER has a folder for each kernel, as benchmarks.detection.any_kernel has it. Its `solution` runs on the GPU with the
inputs of get_inputs(); of each launch of another kernel, or of the same one compiled otherwise, the PTX, the arguments and
all arrays are kept, before and after. The cpu device then runs this PTX on the arrays from before. Neither Triton nor
ptxas fuses products with sums on its own here, so what both run is the text. A kernel is `exact` if all of its
arithmetic is IEEE's; others are named by what is not: `products` of tensor cores, `approximate` functions, `atomic` sums
whose order is not fixed. Two NaNs are equal. Keeps names and numbers.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measurement import Figures, Record

SECONDS = 200
MOST_LAUNCHES, MOST_BYTES, MOST_THREADS = 8, 1 << 25, 1 << 19
"""Of a folder; of a launch's arrays, and of its threads: the cpu device runs one thread at a time."""
NOT_IEEE = {
    "products": r"\b(?:wgmma|mma|tcgen05)\.",
    "atomic": r"\b(?:atom|red)\.(?:\w+\.)*add\.(?:noftz\.)?(?:f|bf)",
    "approximate": r"\b(?:ex2|lg2|sin|cos|tanh|rcp|rsqrt|sqrt|div)\.(?:approx|full)",
}
"""Instructions whose results another device may give otherwise; the first that a kernel has names its kind."""
Tensor = Any


@dataclass
class Launch:
    """A launch on the GPU: the compiled kernel, its grid and arguments, and its arrays as they were and are."""

    kernel: Any
    grid: tuple[int, int, int]
    arguments: list[Any]
    before: dict[int, Tensor]
    after: dict[int, Tensor]


def storages(arguments: Sequence[Any]) -> dict[int, Tensor]:
    """The memory of all tensors among some arguments, by where it begins."""
    import torch

    tensors = [getattr(one.value, "base", one.value) for one in arguments]
    return {one.untyped_storage().data_ptr(): one.untyped_storage() for one in tensors if isinstance(one, torch.Tensor)}


class Recorder:
    """Keeps launches of Triton's own driver."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.left_out: list[str] = []
        self._seen: set[str] = set()

    def install(self) -> None:
        """Stand in the place of the launcher of each kernel."""
        from triton.backends.nvidia.driver import CudaLauncher
        from triton.compiler.compiler import CompiledKernel

        begin, launch, kernels = CompiledKernel._init_handles, CudaLauncher.__call__, {}

        def note(kernel: Any) -> None:  # noqa: ANN401
            begin(kernel)
            kernels[kernel.function] = kernel

        def record(self_: Any, x: int, y: int, z: int, stream: int, function: int, *given: Any) -> None:  # noqa: ANN401
            def run() -> None:
                launch(self_, x, y, z, stream, function, *given)

            kernel = kernels.get(function)
            if kernel is None or x * y * z == 0:
                run()
            else:
                self.record(kernel, (x, y, z), given[4:], run)

        CompiledKernel._init_handles, CudaLauncher.__call__ = note, record

    def record(self, kernel: Any, grid: tuple[int, int, int], given: Sequence[Any], run: Any) -> None:  # noqa: ANN401
        """Launch, and keep the launch if it is a new one."""
        import torch

        from kfuzz.devices.python.triton.arguments import flatten_arguments

        text = hashlib.sha256(kernel.asm["ptx"].encode()).hexdigest()
        if text in self._seen or len(self.launches) == MOST_LAUNCHES:
            run()
            return
        self._seen.add(text)
        described = getattr(kernel.metadata, "tensordesc_meta", None) or ()
        arguments = list(flatten_arguments(dict(kernel.src.signature), given, described))
        held = storages(arguments)
        why = self.why_not(kernel, grid, arguments, sum(one.nbytes() for one in held.values()))
        if why:
            self.left_out.append(f"{kernel.name}: {why}")
            run()
            return
        before = {at: one.clone().cpu() for at, one in held.items()}
        run()
        torch.cuda.synchronize()
        self.launches.append(Launch(kernel, grid, arguments, before, {at: one.cpu() for at, one in held.items()}))

    def why_not(self, kernel: Any, grid: tuple[int, int, int], arguments: Sequence[Any], nbytes: int) -> str:  # noqa: ANN401
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


def replay(launch: Launch) -> Record:
    """Run a launch on the cpu device: how many elements of its arrays differ, and by how much at most."""
    import torch

    from kfuzz.devices.python.triton.arguments import PassedValue
    from kfuzz.devices.python.triton.driver import _compiled
    from kfuzz.devices.python.triton.launches import launch as run_on_cpu

    kernel, text = launch.kernel, launch.kernel.asm["ptx"]
    copies = {at: one.clone() for at, one in launch.before.items()}
    arguments, types = [], {}
    for one in launch.arguments:
        value = getattr(one.value, "base", one.value)
        if isinstance(value, torch.Tensor):
            at = value.untyped_storage().data_ptr()
            types.setdefault(at, value.dtype)
            here = torch.empty(0, dtype=value.dtype)
            value = here.set_(copies[at], value.storage_offset(), value.shape, value.stride())
        arguments.append(PassedValue(one.name, one.type, value, one.about))
    began = time.monotonic()
    run_on_cpu(_compiled(text, kernel.metadata, kernel.src.ext == "ttgir"), launch.grid, arguments)
    seconds = time.monotonic() - began
    elements = different = changed = 0
    largest = 0.0
    for at, gpu in launch.after.items():
        size = torch.empty(0, dtype=types[at]).element_size()
        count = gpu.nbytes() // size
        here, there, first = (
            torch.empty(0, dtype=types[at]).set_(one, 0, (count,)) for one in (copies[at], gpu, launch.before[at])
        )
        same = same_bits(here, there)
        elements, different = elements + count, different + int((~same).sum())
        changed += int((~same_bits(first, there)).sum())
        if not bool(same.all()) and here.is_floating_point():
            a, b = here[~same].double(), there[~same].double()
            scale = there.double().nan_to_num(0, 0, 0).abs().max()
            largest = max(largest, float(((a - b).abs() / scale).nan_to_num(torch.inf).max()))
    return {
        "kernel": kernel.name, "kind": kind_of(text), "elements": elements, "changed": changed,
        "different": different, "largest": largest, "seconds": round(seconds, 2),
    }  # fmt: skip


def same_bits(one: Tensor, other: Tensor) -> Tensor:
    """Which elements have the same bits, or are NaN both."""
    import torch

    whole = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    if one.is_complex():
        one, other = torch.view_as_real(one).reshape(-1), torch.view_as_real(other).reshape(-1)
    kind = whole[one.element_size()]
    same = one.view(kind) == other.view(kind)
    return same | (one.double().isnan() & other.double().isnan()) if one.is_floating_point() else same


def on_gpu(one: Any) -> Any:  # noqa: ANN401  an input
    """The same with all tensors on the GPU."""
    if isinstance(one, list | tuple) and not hasattr(one, "_fields"):
        return type(one)(on_gpu(part) for part in one)
    if isinstance(one, dict):
        return {name: on_gpu(part) for name, part in one.items()}
    return one.cuda() if hasattr(one, "cuda") else one


def of_folder_here(folder: Path) -> Iterator[Record]:
    """The rows of one folder, in this process, which has a GPU."""
    import torch

    from kfuzz.devices.python.extensions import CALLS

    sys.path.insert(0, str(folder))
    recorder = Recorder()
    recorder.install()
    problem, solution = __import__("problem"), __import__("solution")
    torch.manual_seed(0)
    given = on_gpu(list(problem.get_inputs()))
    try:
        solution.solution(*given)
    finally:
        CALLS.file = folder / "solution.py"
        for what in recorder.left_out:
            yield {"kernel": what.partition(":")[0], "kind": "left out", "why": what.partition(": ")[2]}
        for launch in recorder.launches:
            try:
                yield replay(launch)
            except Exception as error:  # of the cpu device: a refusal
                yield {"kernel": launch.kernel.name, "kind": "refused", "why": f"{type(error).__name__}: {error}"[:200]}


def of_folder(folder: Path) -> list[Record]:
    """The rows of one folder, from a process of its own."""
    origin = json.loads((folder / "origin.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as cache:
        more = {"TRITON_CACHE_DIR": cache, "TRITON_DEFAULT_FP_FUSION": "0", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "benchmarks.detection.bit_for_bit", str(folder)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False, env=os.environ | more
            )
            said, error = done.stdout, done.stderr.strip().splitlines()[-1:] if done.returncode else []
        except subprocess.TimeoutExpired as late:
            said, error = (late.stdout or b"").decode(), ["did not end"]
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    rows += [{"kernel": origin["name"], "kind": "does not run", "why": error[0][:200]}] if error else []
    return [{"repository": origin["repository"], "folder": folder.name, **one} for one in rows]


def measure(options: Sequence[str]) -> Figures:
    """A row for each launch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="kernels at once")
    parser.add_argument("--keep", type=Path, help="a file to which rows are appended as they come")
    chosen = parser.parse_args(options)
    every = [one.parent for folder in chosen.folders for one in sorted(folder.glob("*/problem.py"))]
    rows: list[Record] = []
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for made in pool.map(partial(of_folder), every):
            rows += made
            if chosen.keep:
                with chosen.keep.open("a", encoding="utf-8") as file:
                    file.writelines(f"{json.dumps(one)}\n" for one in made)
    return Figures({}, {"launches": rows})


if __name__ == "__main__":
    try:
        for row in of_folder_here(Path(sys.argv[1])):
            print(json.dumps(row), flush=True)
    except Exception as error:  # of the kernel's own code
        traceback.print_exc()
        sys.exit(f"{type(error).__name__}: {error}".replace("\n", " ")[:300])
