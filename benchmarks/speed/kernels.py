"""Time the kernels on this GPU, and their rivals: `python -m benchmarks.speed measure kernels`.

Every figure is one of `kfuzz bench`: for kernels that the oracle keeps, by the protocol of docs/bench.md. Everything is
compiled first, side by side. Then each GPU takes the next size, and nothing else runs on it while times are taken. The
records are written size by size, so an interrupted run keeps all that it has done.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

from benchmarks.measurement import Figures, Measurement, Record, as_json, describe
from benchmarks.speed.on_gpus import processes, run_on_gpus
from kfuzz.cases.plans.plan import input_shapes
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices.gpu import driver
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.devices.gpu.graphs import Session, session
from kfuzz.measure.speed.bench import KernelTimes, find_failure, race
from kfuzz.measure.speed.figures import Heat, Traffic, describe_rank
from kfuzz.measure.speed.rivals import compile_rival, knows
from kfuzz.measure.speed.sizes import size_text, sizes_of
from kfuzz.ui.commands.bench import versions
from kfuzz.ui.reports.timing import as_document, table
from kfuzz.ui.targets.targets import find_one

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
    ("reduce/block_sum_first_warp", ((1024, 4096), (8192, 16384), (1024, 131072)), ALL),
    ("reduce/block_max_vec4", ((8192, 16384), (1024, 131072)), ALL),
    ("transpose/tiled_vec4", ((4096, 4096), (4000, 3000)), ALL),
    *((f"softmax/{name}", ((32768, 4096),), ()) for name in LADDER),
)  # fmt: skip
"""Name, sizes, rivals."""
PREPARING = 0.5
"""At most this part of the time goes to compilers: a rival that compiles for minutes leaves time for the rows."""


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
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that compile")
    options = parser.parse_args(arguments)
    there = [name for name in options.against.split(",") if name]
    every = [
        Entry(name, sizes, tuple(one for one in against if one in there), not against)
        for name, sizes, against in KERNELS
    ]
    every = [entry for entry in every if entry.name.startswith(options.only)]
    began = monotonic()
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # each process compiles by itself, since there are many
    reasons = prepare(every, options.jobs, began + PREPARING * options.seconds)
    print(f"all is compiled after {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    peak = 0.0
    sizes = [(entry, size) for entry in every for size in entry.sizes]
    jobs = [(entry, size) for entry, size in sizes if not reasons[entry.name]]
    heats = {(entry, size): without_figures(entry, size, reason)
             for entry, size in sizes if (reason := reasons[entry.name])}  # fmt: skip
    facts = {"gpu": driver.gpu().name, "versions": versions()}
    made = figures(facts, every, heats, peak)
    for (entry, size), done in run_on_gpus(time_one, jobs, places(), began + options.seconds):
        if error := done.exception():
            print(entry.name, size, repr(error), file=sys.stderr, flush=True)
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            heats[entry, size] = without_figures(entry, size, reason)
        else:
            heats[entry, size], peak = done.result()
        made = figures(facts, every, heats, peak)
        keep(options.out, describe("speed", "kernels", arguments, made), collected(every, heats))
    print(f"all is timed after {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return made


def collected(every: Sequence[Entry], heats: Heats) -> dict[tuple[str, bool], KernelTimes]:
    """What is timed so far, kernel by kernel in the order of the page."""
    return {
        (entry.name, entry.is_rung): KernelTimes(entry.name, entry.kernel().op, of_it)
        for entry in every
        if (of_it := tuple(heats[entry, size] for size in entry.sizes if (entry, size) in heats))
    }


def prepare(every: Sequence[Entry], workers: int, end: float) -> dict[str, str]:
    """Why each kernel is not kept, by name, or empty. Meanwhile compilers fill their caches for the rivals.

    What is not compiled at the end is compiled when it is timed.
    """
    with processes() as make_pool:
        pools = cycle([make_pool(gpu, max(1, workers // len(places()))) for gpu in places()])
        reasons = {entry.name: next(pools).submit(reason_against, entry) for entry in every}
        compiled = [next(pools).submit(compile_rivals, entry, size) for entry in every for size in entry.sizes]
        wait([*reasons.values(), *compiled], timeout=max(end - monotonic(), 0))
        return {name: outcome(reason) for name, reason in reasons.items()}


def outcome(reason: "Future[str]") -> str:
    """The reason why a kernel is not kept; if its trials did not end, that is the reason."""
    if not reason.done():
        return "its trials did not end in time"
    return repr(error) if (error := reason.exception()) else reason.result()


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
        of_role = input_shapes(kernel, axes)
        for name in entry.against:
            if name != "torch" and knows(name, kernel.op):
                with suppress(Exception):
                    given = {role: torch.zeros(of_role[role], dtype=getattr(torch, element.library), device="cuda")
                             for role, element in elements.items()}  # fmt: skip
                    compile_rival(torch, name, kernel.op, given)
                torch.cuda.empty_cache()  # other processes compile on this GPU at the same time


def places() -> list[str]:
    """The GPUs that this process sees, in the words of CUDA_VISIBLE_DEVICES."""
    said = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return said.split(",") if said else [str(number) for number in range(driver.count_gpus())]


def time_one(job: tuple[Entry, tuple[int, ...]]) -> tuple[Heat, float]:
    """A kernel's figures at one size, and the GPU's peak."""
    entry, size = job
    kernel, began, gpu = entry.kernel(), monotonic(), opened()
    (axes,) = sizes_of(kernel, (size,))
    heat = race(gpu, kernel, axes, entry.against)
    new = KernelTimes(entry.name, kernel.op, (heat,))
    print(*table(new)[1:], f"    in {monotonic() - began:.1f} s", sep="\n", file=sys.stderr, flush=True)
    return heat, gpu.peak


@cache
def opened() -> Session:
    """This process's session: a later size finds its libraries loaded."""
    return ExitStack().enter_context(session())


def without_figures(entry: Entry, size: tuple[int, ...], reason: str) -> Heat:
    """A size that has no figures, with the reason."""
    axes = dict(zip(entry.kernel().axes, size, strict=True))
    return Heat(axes, Traffic(0, 0), (), (), (), {entry.name: reason})


def keep(folder: Path, made: Measurement, done: dict[tuple[str, bool], KernelTimes]) -> None:
    """Write all that there is so far: the data of a page, and each time that was taken."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernels.json").write_text(as_json(made), encoding="utf-8")
    document = as_document(list(done.values()), made["gpu"], made["versions"])
    (folder / "speed.json").write_text(document, encoding="utf-8")


def figures(facts: Record, every: Sequence[Entry], heats: Heats, peak: float) -> Figures:
    """A record for each kernel and size, and one for each rung of the ladder; what was not timed is named."""
    done = collected(every, heats)
    return Figures({**facts, "left_out": left_out(every, heats)}, {
        "kernels": [
            size_record(one.kernel, heat, peak)
            for (_, is_rung), one in done.items() if not is_rung for heat in one.races
        ],
        "ladder": [rung_record(one) for (_, is_rung), one in done.items() if is_rung],
    })  # fmt: skip


def left_out(every: Sequence[Entry], heats: Heats) -> dict[str, list[str]]:
    """The sizes of each kernel that were not timed."""
    left: dict[str, list[str]] = {}
    for entry in every:
        for size in entry.sizes:
            if (entry, size) not in heats:
                left.setdefault(entry.name, []).append(size_text(size))
    return left


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
