"""Time the kernels on this GPU, and their rivals: `python -m benchmarks.speed measure kernels`.

Every figure is one of `kfuzz bench`: for kernels that the oracle keeps, by the protocol of docs/bench.md. Everything is
compiled first, side by side. Then each GPU takes the next size, and nothing else runs on it while times are taken. The
records are written size by size, so an interrupted run keeps all that it has done.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import Queue, active_children, get_context
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

from benchmarks.measurement import Figures, Record
from kfuzz.claims.kernel import Kernel, load
from kfuzz.commands.bench import versions
from kfuzz.find.targets import find_one
from kfuzz.gpu import driver
from kfuzz.gpu.device import GpuDevice
from kfuzz.gpu.graphs import Session, session
from kfuzz.search.plan import shapes
from kfuzz.timing.bench import KernelTimes, find_failure, race
from kfuzz.timing.figures import Heat, describe_rank
from kfuzz.timing.rivals import compile_rival, knows
from kfuzz.timing.sizes import size_text, sizes_of
from kfuzz.views.timing import as_document, table

ALL = ("torch", "compile", "triton", "quack", "liger")
ROWS = (
    (1024, 1024), (1024, 1023), (1024, 4096), (1024, 8192), (65536, 128), (65536, 1024), (65536, 1023), (32768, 4096),
    (8192, 16384), (8192, 32768), (4096, 65536), (1024, 131072), (1024, 262144), (8, 8388608),
)  # fmt: skip
SIXTEEN = ROWS[:-1]
LADDER = ("naive_block", "online_block", "online_block_vec4", "cached_block", "dispatch", "fastest")
BLOCK = ((65536, 1024), (32768, 4096), (8192, 16384), (8192, 32768))
SHORTER = {f"{op}/block_in_registers" for op in ("rms_norm", "layer_norm", "softmax_backward")}  # of floats, to 16,384
CLUSTER = ((8192, 32768), (4096, 65536), (1024, 131072), (1024, 262144))
KERNELS: tuple[tuple[str, tuple[tuple[int, ...], ...], tuple[str, ...]], ...] = (
    ("softmax/fastest_bf16", SIXTEEN, ALL),
    ("softmax/fastest", ROWS, ALL),
    *(
        (name, sizes[:-1] if name in SHORTER else sizes, ALL)
        for op in ("rms_norm", "layer_norm", "log_softmax", "softmax_backward")
        for element in ("_bf16", "")
        for place, sizes in (("block", BLOCK), ("cluster", CLUSTER))
        for name in (f"{op}/{place}_in_registers{element}",)
    ),
    *((f"cross_entropy/online_block{element}", (*BLOCK, *CLUSTER[1:]), ALL) for element in ("_bf16", "")),
    ("swiglu/bf16_vec8", BLOCK, ALL),
    ("reduce/block_sum_vec4", ((1024, 4096), (8192, 16384), (1024, 131072)), ALL),
    ("reduce/block_max_vec4", ((8192, 16384), (1024, 131072)), ALL),
    ("transpose/tiled_vec4", ((4096, 4096), (4000, 3000)), ALL),
    *((f"softmax/{name}", ((32768, 4096),), ()) for name in LADDER),
)  # fmt: skip
"""Name, sizes, rivals."""


@dataclass(frozen=True)
class Entry:
    """A kernel of the page with its sizes and its rivals; or a rung of the ladder, which has no rivals."""

    name: str
    sizes: tuple[tuple[int, ...], ...]
    against: tuple[str, ...]
    is_rung: bool

    def kernel(self) -> Kernel:
        """Its claim."""
        return load(find_one(self.name))


Heats: TypeAlias = dict[tuple[Entry, tuple[int, ...]], Heat]
"""What is timed so far."""


def measure(arguments: Sequence[str]) -> Figures:
    """Time every kernel that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/speed"), help="folder for all that is recorded")
    parser.add_argument("--only", default="", help="names of kernels begin with this")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after so many seconds, with what is done")
    parser.add_argument("--against", default=",".join(ALL), help="rivals that are installed, by commas")
    options = parser.parse_args(arguments)
    there = [name for name in options.against.split(",") if name]
    every = [
        Entry(name, sizes, tuple(one for one in against if one in there), not against)
        for name, sizes, against in KERNELS
    ]
    every = [entry for entry in every if entry.name.startswith(options.only)]
    began = monotonic()
    alone()
    reasons = prepared(every)
    print(f"all is compiled after {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    for entry in every:
        if reason := reasons[entry.name]:
            print(entry.name, reason, file=sys.stderr, flush=True)
    heats: Heats = {}
    peaks = [0.0]
    for entry, size, heat, peak in timed([one for one in every if not reasons[one.name]], began + options.seconds):
        heats[entry, size] = heat
        peaks.append(peak)
        keep(options.out, collected(every, heats))
    print(f"all is timed after {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return figures(collected(every, heats), max(peaks), every)


def collected(every: Sequence[Entry], heats: Heats) -> dict[tuple[str, bool], KernelTimes]:
    """What is timed so far, kernel by kernel in the order of the page."""
    return {
        (entry.name, entry.is_rung): KernelTimes(entry.name, entry.kernel().op, of_it)
        for entry in every
        if (of_it := tuple(heats[entry, size] for size in entry.sizes if (entry, size) in heats))
    }


def prepared(every: Sequence[Entry]) -> dict[str, str]:
    """Why each kernel is not kept, by name, or empty. Meanwhile compilers fill their caches for the rivals."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), initializer=alone) as pool:
        reasons = {entry.name: pool.submit(reason_against, entry) for entry in every}
        for entry in every:
            for size in entry.sizes:
                pool.submit(compile_rivals, entry, size)
        return {name: reason.result() for name, reason in reasons.items()}


def alone() -> None:
    """Run before torch is imported: each process compiles by itself, since there are many."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"


def reason_against(entry: Entry) -> str:
    """The reason why a kernel is not kept; empty if it is kept."""
    with closing(GpuDevice()) as device:
        return find_failure(entry.kernel(), device)


def compile_rivals(entry: Entry, size: tuple[int, ...]) -> None:
    """Let rivals compile for a size; if they fail, they fail again when they are timed."""
    kernel = entry.kernel()
    torch: Any = importlib.import_module("torch")
    elements = {array.reads: array.element for array in kernel.arrays.values() if array.reads}
    for axes in sizes_of(kernel, (size,)):
        of_role = shapes(kernel, axes)
        for name in entry.against:
            if name != "torch" and knows(name, kernel.op):
                with suppress(Exception):
                    given = {role: torch.zeros(of_role[role], dtype=getattr(torch, element.library), device="cuda")
                             for role, element in elements.items()}  # fmt: skip
                    compile_rival(torch, name, kernel.op, given)
                torch.cuda.empty_cache()  # other processes compile at the same time, and there is one GPU


def timed(every: Sequence[Entry], end: float) -> Iterator[tuple[Entry, tuple[int, ...], Heat, float]]:
    """Each size of each kernel with its figures and its GPU's peak; every GPU takes the next one. Stops at the end."""
    context = get_context("spawn")
    free = context.Queue()
    for place in places():
        free.put(place)
    pool = ProcessPoolExecutor(len(places()), context, initializer=take_card, initargs=(free,))
    try:
        asked = {pool.submit(time_one, entry, size): (entry, size) for entry in every for size in entry.sizes}
        with suppress(TimeoutError):
            for one in as_completed(asked, timeout=max(end - monotonic(), 0)):
                heat, peak = one.result()
                yield *asked[one], heat, peak
    finally:  # the end of a `with` would take back that jobs are cancelled, and a worker may hang in its driver
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            worker.kill()


def places() -> list[str]:
    """The GPUs that this process sees, in the words of CUDA_VISIBLE_DEVICES."""
    said = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return said.split(",") if said else [str(number) for number in range(driver.count())]


def take_card(free: "Queue[str]") -> None:
    """Keep to one GPU from now on, which no other process times on."""
    alone()
    os.environ["CUDA_VISIBLE_DEVICES"] = free.get()


def time_one(entry: Entry, size: tuple[int, ...]) -> tuple[Heat, float]:
    """A kernel's figures at one size, and the GPU's peak."""
    kernel, began, card = entry.kernel(), monotonic(), opened()
    (axes,) = sizes_of(kernel, (size,))
    heat = race(card, kernel, axes, entry.against)
    new = KernelTimes(entry.name, kernel.op, (heat,))
    print(*table(new)[1:], f"    in {monotonic() - began:.1f} s", sep="\n", file=sys.stderr, flush=True)
    return heat, card.peak


@cache
def opened() -> Session:
    """This process's session: a later size finds its libraries loaded."""
    return ExitStack().enter_context(session())


def keep(folder: Path, done: dict[tuple[str, bool], KernelTimes]) -> None:
    """Write all records that there are so far."""
    folder.mkdir(parents=True, exist_ok=True)
    document = as_document(list(done.values()), driver.card().name, versions())
    (folder / "speed.json").write_text(document, encoding="utf-8")


def figures(done: dict[tuple[str, bool], KernelTimes], peak: float, every: Sequence[Entry]) -> Figures:
    """A record for each kernel and size, and one for each rung of the ladder; what was not timed is named."""
    left = {entry.name: sizes for entry in every if (sizes := left_out(entry, done.get((entry.name, entry.is_rung))))}
    return Figures({"gpu": driver.card().name, "versions": versions(), "left_out": left}, {
        "kernels": [
            size_record(one.kernel, heat, peak)
            for (_, is_rung), one in done.items() if not is_rung for heat in one.races
        ],
        "ladder": [rung_record(one) for (_, is_rung), one in done.items() if is_rung],
    })  # fmt: skip


def left_out(entry: Entry, one: KernelTimes | None) -> list[str]:
    """The sizes of a kernel that were not timed."""
    return [size_text(size) for size in entry.sizes[len(one.races) if one else 0 :]]


def size_record(kernel: str, heat: Heat, peak: float) -> Record:
    """A kernel's figures at one size; `refused` says why there are none."""
    own = heat.kernels[0] if heat.kernels else None
    plain = min((copy.median for copy in heat.copies if not copy.name.endswith("kept")), default=0.0)
    return {
        "kernel": kernel, "size": size_text(tuple(heat.axes.values())), "cols": heat.axes.get("cols", 0),
        "copy": heat.rate(heat.copy) / 1e12 if own else None, "fraction": heat.fraction(own) if own else None,
        "plain": plain / own.median if own else None, "spread": own.spread if own else None,
        "peak": heat.rate(own) / peak if own else None,
        "rivals": {rival.name: heat.fraction(rival) for rival in heat.rivals}
        | dict.fromkeys(name for name in heat.refused if name != kernel),
        "rank": describe_rank(own, heat.rivals) if own else "", "refused": heat.refused.get(kernel, ""),
    }  # fmt: skip


def rung_record(one: KernelTimes) -> Record:
    """A kernel of the ladder, at its one size."""
    heat = one.races[0]
    own = heat.kernels[0] if heat.kernels else None
    return {
        "kernel": one.kernel, "size": size_text(tuple(heat.axes.values())),
        "micros": own.median * 1e6 if own else None, "fraction": heat.fraction(own) if own else None,
        "refused": next(iter(heat.refused.values()), ""),
    }  # fmt: skip
