"""Many trials of correct callables: how many are accused, and where the time goes."""

from collections.abc import Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, largest, long_table, table, text

LIBRARIES = ("library", "trials/s of one process", "calls", "judging", "planning", "first trial")
CALLABLES = ("callable", "type", "trials", "elements", "worst kept error", "accused")


def show(made: Measurement) -> Blocks:
    yield from text(
        "The tables show correct functions of torch, Triton, CuPy, JAX and numpy in",
        "f32, f16 and bf16, each under the claim that its library's arithmetic makes "
        "([languages](../../docs/callables.md#libraries)).",
        "Imports, and the contexts of the processes, which take turns on the GPU, make up most of the time of a call.",
    )
    every = made.table("callables")
    trials, elements, accused = (sum(one[name] for one in every) for name in ("trials", "elements", "accused"))
    yield from text(
        f"{trials:,} trials of {len(every)} right callables, {elements:,} elements judged, {accused} accusations; "
        f"{made['processes']} processes side by side, {made['seconds']:.0f} s, seed {made['seed']}."
    )
    yield from table("lrrrrr", LIBRARIES, (
        (one["library"], f"{one['rate']:.0f}", *(f"{one[name]:.0%}" for name in ("calls", "judging", "planning")),
         f"{one['first']:.1f} s")
        for one in made.table("libraries")
    ))  # fmt: skip
    yield from show_callables(every)
    for one in made.figures.tables.get("accusations", ()):
        yield from text(f"- {one['text']}")
    yield from made.note()
    if twins := made.figures.tables.get("callables_with_twins"):
        yield from heading("With the 16-bit twins of JAX and CuPy")
        yield from show_callables(twins)


def show_callables(every: Sequence[Record]) -> Blocks:
    """A line for each callable."""
    worst = largest(every, lambda one: (one["accused"], one["worst"]))
    yield from long_table("llrrrr", CALLABLES, every, cells, worst, "those accused, or else of the largest error")


def cells(one: Record) -> tuple[object, ...]:
    return (one["name"], one["type"], one["trials"], f"{one['elements']:,}", f"{one['worst']:.2f}", one["accused"])
