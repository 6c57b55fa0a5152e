"""The kernels beside their rivals, and what each step of softmax brings."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Lines, heading, table, text

COLUMNS = ("size", "best copy TB/s", "fraction", "of plain copies", "spread", "of peak")


def show(made: Measurement) -> Lines:
    versions = made["versions"]
    libraries = "".join(f", {name} {version}" for name, version in versions.items() if name not in ("cuda", "nvcc"))
    yield from text(
        f"Measured on an {made['gpu']}: CUDA {versions['cuda']}, nvcc {versions['nvcc']}{libraries}. Each figure is",
        "the median of 30 graph replays over rotated buffers, taken in turns with its rivals and with copies in the",
        "same run ([docs/bench.md](../../docs/bench.md)). A kernel has a figure only if the oracle keeps its",
        "answers. *Fraction* is the fraction of the best of those copies, and *of plain copies* that of the best",
        "copy that does not ask the cache to keep what it reads; *of peak* refers to the bandwidth of the memory",
        "pins; half of the replays lie within the spread. A difference under 1 % is a tie. A rival with - has a",
        "function for the op that does not take this size.",
    )
    yield from text(summary(made.table("kernels")))
    for kernel, sizes in groupby(made.table("kernels"), key=lambda one: one["kernel"]):
        yield from heading(kernel)
        yield from show_kernel(list(sizes))
    yield from heading("What each step brings")
    yield from table("llrr", ("kernel", "size", "us", "fraction of copy"), (
        (f"`{one['kernel']}`", one["size"], one["refused"] or f"{one['micros']:.1f}", show_fraction(one["fraction"]))
        for one in made.table("ladder")
    ))  # fmt: skip
    yield from made.note()
    if left := made["left_out"]:
        words = "; ".join(f"`{name}` {', '.join(sizes)}" for name, sizes in left.items())
        yield from text(f"The run ended before these were timed: {words}.")


def summary(sizes: Sequence[Record]) -> str:
    """How many rows are ahead of every rival, tie with the best one, or are behind it."""
    words = Counter(one["rank"].partition(" ")[0] for one in sizes if not one["refused"])
    refused = f" {len(sizes) - words.total()} have no figure." if words.total() < len(sizes) else ""
    return (
        f"Of {len(sizes)} rows {words['ahead']} are ahead of every rival, {words['tie']} tie with the best one, and "
        f"{words['behind']} are behind it.{refused}"
    )


def show_kernel(sizes: Sequence[Record]) -> Lines:
    """A line for each size, a column for each rival."""
    rivals = list(dict.fromkeys(name for one in sizes for name in one["rivals"]))
    columns = [*COLUMNS, *rivals, "rank"]
    yield from table(f"l{'r' * (5 + len(rivals))}l", columns, (show_size(one, rivals) for one in sizes))


def show_size(one: Record, rivals: Sequence[str]) -> list[str]:
    """The cells of one size; a reason in the last where nothing was timed."""
    if one["refused"]:
        return [one["size"], *[""] * (5 + len(rivals)), one["refused"]]
    return [
        one["size"], f"{one['copy']:.2f}", f"**{one['fraction']:.3f}**", show_fraction(one["plain"]),
        f"{one['spread']:.1%}", f"{one['peak']:.3f}",
        *(show_fraction(one["rivals"].get(name)) for name in rivals), one["rank"],
    ]  # fmt: skip


def show_fraction(fraction: float | None) -> str:
    return "-" if fraction is None else f"{fraction:.3f}"
