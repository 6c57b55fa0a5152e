"""Time the kernels on this GPU, and torch, torch.compile and Triton: `python -m benchmarks.speed.kernels`.

Every figure is one of `kfuzz bench`: for kernels that the oracle keeps, by the protocol of docs/bench.md. Everything is
compiled first, side by side, and nothing else runs while times are taken. The records are written size by size, so an
interrupted run keeps all that it has done.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any

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

ALL = ("torch", "compile", "triton")
ROWS = (
    (1024, 512), (1024, 1024), (1024, 1023), (1024, 2048), (1024, 4096), (1024, 4095), (1024, 8192), (1024, 10240),
    (65536, 128), (32768, 256), (65536, 1024), (65536, 1023), (32768, 2048), (32768, 4096), (16384, 8192),
    (8192, 16384), (8192, 16383), (8192, 32768), (4096, 65536), (1024, 131072), (1024, 131071), (16384, 131072),
    (4096, 262144), (8, 8388608),
)  # fmt: skip
SIXTEEN = ROWS[: ROWS.index((1024, 131071))]
QUACK = {256: ".57", 1024: ".79", 4096: ".86 to .90", 8192: ".86 to .90", 16384: ".86 to .90"}
"""The fraction of an H100's peak that QuACK publishes for its bfloat16 softmax, by columns."""
LADDER = ("naive_block", "online_block", "online_block_vec4", "cached_block", "dispatch", "fastest")
LONG = ((65536, 1024), (8192, 16384), (1024, 131072))
NORMS = ((65536, 1024), (32768, 4096), (8192, 16384))
KERNELS: tuple[tuple[str, tuple[tuple[int, ...], ...], tuple[str, ...]], ...] = (
    ("softmax/fastest", ROWS, ALL),
    ("softmax/fastest_bf16", SIXTEEN, ALL),
    ("reduce/block_sum_vec4", ((1024, 4096), *LONG), ALL),
    ("reduce/block_max_vec4", LONG, ALL),
    ("transpose/tiled_vec4", ((4096, 4096), (4000, 3000)), ALL),
    ("rms_norm/block_in_registers", (*NORMS, (8192, 32768)), ALL),
    ("layer_norm/block_in_registers", NORMS, ALL),
    ("rms_norm/row_in_shared", ((8192, 49152),), ALL),
    ("layer_norm/row_in_shared", ((8192, 32768), (8192, 49152)), ALL),
    ("rms_norm/row_in_cluster", ((1024, 131072),), ALL),
    ("layer_norm/row_in_cluster", ((1024, 131072),), ALL),
    *((f"softmax/{name}", ((32768, 4096),), ()) for name in LADDER),
)
"""Name, sizes, rivals."""

HEAD = """# How fast the kernels here are

Measured on an {card}: CUDA {cuda}, nvcc {nvcc}{libraries}. Each figure is the
median of 30 graph replays over rotated buffers, taken in turns with its rivals and with copies in the same run
([docs/bench.md](../docs/bench.md)). A kernel has a figure only if the oracle keeps its answers. *Fraction*
is the fraction of the best of those copies, and *of plain copies* that of the best copy that does not ask the cache to
keep what it reads; *of peak* refers to the bandwidth of the memory pins; half of the replays lie within the spread. A
difference under 1 % is a tie.
"""
BESIDE_QUACK = """
QuACK publishes its softmax in bfloat16 as fractions of an H100's peak: the last column. Such a fraction hardly
changes from one GPU to another of its kind, but an H100 is another GPU, and QuACK was not timed here.
"""


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


def main() -> None:
    """Time every kernel that was asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/speed"), help="folder for all that is recorded")
    parser.add_argument("--only", default="", help="names of kernels begin with this")
    parser.add_argument("--against", default=",".join(ALL), help="which of torch,compile,triton are there")
    options = parser.parse_args()
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
    done: dict[tuple[str, bool], KernelTimes] = {}
    with session() as card:
        for entry in every:
            if reason := reasons[entry.name]:
                print(entry.name, reason, file=sys.stderr, flush=True)
                continue
            for one in timed(card, entry):
                done[entry.name, entry.is_rung] = one
                write(options.out, done, card.peak, every)
    print(f"all is timed after {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print((options.out / "page.md").read_text(encoding="utf-8"))


def prepared(every: Sequence[Entry]) -> dict[str, str]:
    """Why each kernel is not kept, by name, or empty. Meanwhile compilers fill their caches for the rivals."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), initializer=alone) as pool:
        reasons = {entry.name: pool.submit(reason_against, entry) for entry in every}
        for entry in every:
            for size in entry.sizes:
                pool.submit(compile_rivals, entry, size)
        compile_rivals(every[0], every[0].sizes[0])  # so this process has done its one-time work
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


def timed(card: Session, entry: Entry) -> Iterator[KernelTimes]:
    """A kernel's figures, again after each size."""
    kernel, heats = entry.kernel(), list[Heat]()
    for axes in sizes_of(kernel, entry.sizes):
        began = monotonic()
        heats.append(race(card, kernel, axes, entry.against))
        one = KernelTimes(entry.name, kernel.op, tuple(heats))
        new = KernelTimes(entry.name, kernel.op, tuple(heats[-1:]))
        print(*table(new)[1:], f"    in {monotonic() - began:.1f} s", sep="\n", file=sys.stderr, flush=True)
        yield one


def write(folder: Path, done: dict[tuple[str, bool], KernelTimes], peak: float, every: Sequence[Entry]) -> None:
    """Write the page and all records; the page names what is left out."""
    card, made_with = driver.card().name, versions()
    libraries = "".join(f", {name} {made_with[name]}" for name in ("torch", "triton") if name in made_with)
    head = HEAD.format(card=card, cuda=made_with["cuda"], nvcc=made_with["nvcc"], libraries=libraries)
    parts = [head, *(section(one, peak) for (_, is_rung), one in done.items() if not is_rung)]
    if ladder := [one for (_, is_rung), one in done.items() if is_rung]:
        parts.append(rungs(ladder))
    if left := [words for entry in every if (words := left_out(entry, done.get((entry.name, entry.is_rung))))]:
        parts.append(f"The run ended before these were timed: {'; '.join(left)}.\n")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "page.md").write_text("\n".join(parts), encoding="utf-8")
    (folder / "speed.json").write_text(as_document(list(done.values()), card, made_with), encoding="utf-8")


def left_out(entry: Entry, one: KernelTimes | None) -> str:
    """The sizes of a kernel that were not timed, in words."""
    sizes = entry.sizes[len(one.races) if one else 0 :]
    return f"`{entry.name}` {', '.join(map(size_text, sizes))}" if sizes else ""


def section(one: KernelTimes, peak: float) -> str:
    """A table of one kernel: a line for each size, a column for each rival."""
    rivals = list(dict.fromkeys(rival.name for heat in one.races for rival in heat.rivals))
    published = QUACK if one.kernel.endswith("_bf16") else {}
    names = ["size", "best copy TB/s", "fraction", "of plain copies", "spread", "of peak", *rivals, "standing"]
    names += ["QuACK, of an H100's peak"] * bool(published)
    lines = [f"## {one.kernel}", BESIDE_QUACK * bool(published), f"| {' | '.join(names)} |"]
    lines.append(f"|---|{'---:|' * (5 + len(rivals))}---|{'---|' * bool(published)}")
    for heat in one.races:
        told = f" {published.get(heat.axes['cols'], '')} |" if published else ""
        lines.append(row(heat, rivals, peak) + told)
    return "\n".join([*lines, ""])


def row(heat: Heat, rivals: list[str], peak: float) -> str:
    """One size."""
    size = size_text(tuple(heat.axes.values()))
    if not heat.kernels:
        empty = " | ".join([""] * (4 + len(rivals)))
        return f"| {size} | | {empty} | {'; '.join(heat.refused.values())} |"
    own = heat.kernels[0]
    plain = min(copy.median for copy in heat.copies if not copy.name.endswith("kept"))
    by_name = {rival.name: f"{heat.fraction(rival):.3f}" for rival in heat.rivals}
    cells = [
        size, f"{heat.rate(heat.copy) / 1e12:.2f}", f"**{heat.fraction(own):.3f}**", f"{plain / own.median:.3f}",
        f"{own.spread:.1%}", f"{heat.rate(own) / peak:.3f}", *(by_name.get(name, "") for name in rivals),
        describe_rank(own, heat.rivals),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def rungs(every: list[KernelTimes]) -> str:
    """Kernels at the same size: the gain of each step from naive to fastest."""
    lines = ["## What each step brings", "", "| kernel | size | us | fraction of copy |", "|---|---|---:|---:|"]
    for one in every:
        heat = one.races[0]
        size = size_text(tuple(heat.axes.values()))
        own = [f"{each.median * 1e6:.1f} | {heat.fraction(each):.3f}" for each in heat.kernels]
        lines.append(f"| `{one.kernel}` | {size} | {own[0] if own else f'{next(iter(heat.refused.values()))} |'} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
