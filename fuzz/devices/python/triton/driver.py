"""Triton without a GPU: a driver like that of the GPU that is imitated, mostly an H200, which hands each launch to the
cpu device instead of to a GPU.

Triton's own compiler makes the PTX; only ptxas is left out. Installed once, before a file is imported. Knows what
surrounds the kernels, in any version of Triton; launches.py knows what a launch is.
"""

import contextlib
import functools
import inspect
import os
import re
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import torch
from triton import testing
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime import autotuner, driver

from kfuzz.devices import cache
from kfuzz.devices.python.imitated_gpu import BY_TARGET, GPU, H200
from kfuzz.devices.python.triton.arguments import flatten_arguments
from kfuzz.devices.python.triton.launches import Compiled, launch
from kfuzz.devices.worker.helping import is_boxed

Untyped: TypeAlias = Any
"""A thing of Triton's, which has types for none of them."""
PROPERTIES = {
    "max_num_regs": 1 << 16, "multiprocessor_count": 132, "warpSize": 32,
    "sm_clock_rate": 1_980_000, "mem_clock_rate": 3_201_000, "mem_bus_width": 6144,
}  # fmt: skip
"""An H200's, as Triton's driver names them; shared memory is that of the GPU that is imitated."""
ASKED_OF_SMI = {
    "clocks.max.sm": 1980,
    "clocks.current.sm": 1980,
    "clocks.max.memory": 3201,
    "clocks.current.memory": 3201,
}
"""What triton.testing.nvsmi asks nvidia-smi for, and an H200's answers, in MHz."""
MOST_THREADS = 1024
REGISTERS, SPILLS = 32, 0
"""The figures of a small kernel: only ptxas knows those of a real one."""
NEVER = [float("inf")] * 3
"""The times of a configuration that a GPU does not take."""
ADDRESSES = "tt.int_to_ptr"
"""Triton's name for what makes a pointer of an integer."""
MAKES_POINTERS = "kfuzz_makes_pointers"


class Utils:
    """What Triton asks of a GPU, and how a kernel is loaded."""

    def get_device_properties(self, _: object = 0) -> dict[str, int]:
        return {"max_shared_mem": GPU.shared_memory, **PROPERTIES}

    def load_binary(self, name: str, kernel: bytes, *_: object) -> tuple[object, str, int, int, int]:
        """The module, the function, and figures: a function is its text."""
        return object(), kernel.decode(), REGISTERS, SPILLS, MOST_THREADS

    def unload_module(self, _: object) -> None: ...


class KernelLauncher:
    """Launches one compiled kernel."""

    def __init__(self, source: Untyped, metadata: Untyped) -> None:
        self._metadata = metadata
        self._signature = dict(source.signature)
        self._file = str(source.fn.fn.__code__.co_filename) if hasattr(source, "fn") else ""
        self._is_gluon = source.ext == "ttgir"

    def __call__(self, x: int, y: int, z: int, stream: int, text: str, packed: Untyped, *given: Untyped) -> None:
        """Launch: after what is called before and after a launch come the kernel's arguments."""
        metadata, enter, leave, args = given[0], given[1], given[2], given[3:]
        if not x * y * z:
            return
        if enter is not None:
            enter(metadata)
        kernel = compiled(with_place(text, self._file), self._metadata, self._is_gluon)
        if self._file in WRITTEN_FOR:  # for the GPU that the process imitates
            kernel = replace(kernel, target="")
        described = getattr(self._metadata, "tensordesc_meta", None) or ()
        launch(kernel, (x, y, z), tuple(flatten_arguments(self._signature, args, described)))
        if leave is not None:
            leave(metadata)


def learn_versions() -> None:
    """Let Triton ask its tools for their versions: a process in a sandbox cannot start them."""
    keep_versions(sys.modules[CUDABackend.__module__])


def keep_versions(compiler: Untyped) -> None:
    """Ask a module of Triton for the versions, and keep the answers: 3.4 asks ptxas again for each kernel. Up to 3.5
    the functions take no architecture.
    """
    for name in ("get_ptxas", "get_ptxas_version"):
        with contextlib.suppress(Exception):  # another version of Triton asks in another way, or not at all
            asked = functools.cache(getattr(compiler, name))
            setattr(compiler, name, asked)
            takes = len(inspect.signature(asked).parameters)
            for capability in BY_TARGET.values() if takes else [H200]:
                asked(*[number_of(capability)][:takes])


WRITTEN_FOR: dict[str, tuple[str, Callable[[int], int]]] = {}
"""A user's file for which a compiler has written a file of Triton, and the line there for each of its lines."""


def with_place(text: str, file: str) -> str:
    """The text of a kernel as compiled from this file, or from the one that it was written for."""
    first = re.search(r"^\s*\.loc\s+(\d+)\s", text, re.MULTILINE)
    if file not in WRITTEN_FOR or not first:
        return with_file(text, file)
    own, line_for = WRITTEN_FOR[file]
    place = re.compile(rf"((?:\.loc|inlined_at)\s+{first[1]}\s+)(\d+)")
    return with_file(place.sub(lambda of: f"{of[1]}{line_for(int(of[2]))}", text), own)


def with_file(text: str, file: str) -> str:
    """The text of a kernel as compiled from this file: Triton keeps kernels by their texts, and not by their files."""
    first = re.search(r"^\s*\.loc\s+(\d+)\s", text, re.MULTILINE)
    if not first or not file:
        return text
    named = re.compile(rf'^(\s*\.file\s+{first[1]}\s+)"[^"\n]*"', re.MULTILINE)
    return named.sub(lambda of: f'{of[1]}"{file}"', text)


def compiled(text: str, about: Untyped, is_gluon: bool) -> Compiled:
    """A kernel by Triton's figures about it, some of which a version may not have."""
    scratch = ("global", "profile")
    return Compiled(
        name=about.name,
        text=text,
        warps=about.num_warps,
        shared=about.shared,
        blocks=about.num_ctas,
        is_cooperative=bool(getattr(about, "launch_cooperative_grid", False)),
        scratch=tuple(int(getattr(about, f"{one}_scratch_size", 0) or 0) for one in scratch),
        align=max(int(getattr(about, f"{one}_scratch_align", 0) or 1) for one in scratch),
        makes_pointers=bool(getattr(about, MAKES_POINTERS, False)),
        is_gluon=is_gluon,
        target=f"sm_{about.target.arch}",
    )


def number_of(capability: tuple[int, int]) -> int:
    """A compute capability in Triton's words."""
    return 10 * capability[0] + capability[1]


class DriverWithoutGpu(DriverBase):  # type: ignore[misc]  # triton is not there where types are checked
    """Answers as the driver of the GPU that is imitated."""

    def __init__(self) -> None:
        self.utils = Utils()
        self.launcher_cls = KernelLauncher

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", number_of(GPU.capability), PROPERTIES["warpSize"])

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Untyped:
        return torch.cuda

    def get_benchmarker(self) -> Callable[..., list[float]]:
        return run_once

    def get_empty_cache_for_benchmark(self) -> Untyped:
        return torch.empty(1)

    def clear_cache(self, cache: object) -> None: ...

    def get_current_device(self) -> int:
        """Another number for a GPU of another target: Triton keeps by it what it has compiled, and knows of the GPU."""
        return 0 if GPU.capability == H200 else number_of(GPU.capability)

    def set_current_device(self, _: object) -> None: ...

    def get_current_stream(self, _: object = 0) -> int:
        return 0

    def get_device_capability(self, _: object = 0) -> tuple[int, int]:
        return GPU.capability


def answer_of_smi(attributes: Sequence[str]) -> list[int]:
    """The answer of nvidia-smi, which is not there, or which a sandbox does not start."""
    return [ASKED_OF_SMI[one] for one in attributes]


def run_once(call: Callable[[], object], *_: object, **__: object) -> list[float]:
    """Run what is to be measured, once; all take the same time."""
    call()
    return [1.0, 1.0, 1.0]


def install() -> None:
    """Replace what a missing GPU leaves unanswered, and stop compiling at PTX.

    What is compiled so is kept apart from what Triton compiles for a GPU: it has no machine code.
    """
    os.environ.pop("TRITON_INTERPRET", None)
    # what an answer in a sandbox has compiled is for no other process
    kept = Path(os.environ["TMPDIR"]) if is_boxed() else cache.folder()
    os.environ["TRITON_CACHE_DIR"] = str(kept / "triton")
    driver.set_active(DriverWithoutGpu())
    testing.nvsmi = answer_of_smi
    begin, add_stages = CUDABackend.__init__, CUDABackend.add_stages

    def begin_backend(self: Untyped, target: GPUTarget) -> None:
        begin(self, target)
        self.binary_ext = "ptx"

    def add_stages_to_ptx(self: Untyped, stages: Untyped, *given: Untyped) -> None:
        add_stages(self, stages, *given)
        stages.pop("cubin")
        make = stages["llir"]

        def note_pointers(source: Untyped, metadata: Untyped) -> Untyped:
            metadata[MAKES_POINTERS] = ADDRESSES in str(source)
            return make(source, metadata)

        stages["llir"] = note_pointers

    CUDABackend.__init__, CUDABackend.add_stages = begin_backend, add_stages_to_ptx
    bench = autotuner.Autotuner._bench

    def rank_after_a_run(self: Untyped, *args: Untyped, config: Untyped, **named: Untyped) -> list[float]:
        """The rank of a configuration; the first of a tuning runs the kernel before, as a GPU does with each.

        A kernel that adds to its output has added to it then, unless it says `reset_to_zero` or `restore_value`. Only
        those that would be chosen so far are compiled, to see whether a GPU takes them.
        """
        if getattr(self, "kfuzz_tuned", None) is not self.nargs:
            self.kfuzz_tuned, measured, self._do_bench = self.nargs, self._do_bench, run_once
            self.kfuzz_best = NEVER
            try:
                bench(self, *args, config=config, **named)
            finally:
                self._do_bench = measured
        rank = rank_config(*args, config=config, **named)
        if rank < self.kfuzz_best:
            if not does_compile(self, args, {**named, **config.all_kwargs()}, config):
                return NEVER
            self.kfuzz_best = rank
        return rank

    autotuner.Autotuner._bench = rank_after_a_run


def does_compile(tuner: Untyped, args: Untyped, named: dict[str, Untyped], config: Untyped) -> bool:
    """Whether Triton compiles a configuration, and its shared memory is not too large: a tuning leaves out others."""
    every = {**tuner.nargs, **named}
    if config.pre_hook:  # it may set the box of a tensor descriptor
        config.pre_hook(every)
    tuner.pre_hook(every)
    try:
        made = tuner.fn.run(*args, **{**named, "warmup": True})
        if made is not None:
            made._init_handles()
    except (autotuner.OutOfResources, CompileTimeAssertionFailure):
        return False
    finally:
        tuner.post_hook(every, exception=None)
    return True


def rank_config(*args: Untyped, config: Untyped, **named: Untyped) -> list[float]:
    """Times by which autotune chooses a configuration: another one for other sizes, the same in every process.

    By what it sets: 3.9 writes more of the same configuration than 3.8, and another one was chosen under it.
    """
    fields = ("num_warps", "num_ctas", "num_stages", "maxnreg")
    values = {**config.kwargs, **{name: getattr(config, name) for name in fields}}
    sizes = [tuple(one.shape) if isinstance(one, torch.Tensor) else one for one in (*args, *named.values())]
    words = ", ".join(f"{name}: {value}" for name, value in values.items())
    return [float(zlib.crc32(f"{words} {[one for one in sizes if isinstance(one, int | tuple)]}".encode()))] * 3
