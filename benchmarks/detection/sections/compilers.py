"""One kernel under several versions of Triton."""

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, heading, long_table, table, text

WORDS = """
The first kernels of a draw of Triton's ([any_kernel.py](any_kernel.py)) that get a verdict, run with the same six cases
under each version of Triton ([compilers.py](compilers.py)). Their text is the same, so what differs is what the
compilers make of it, or what they refuse. A version that did not end in 240 s says nothing."""


def show(made: Measurement) -> Blocks:
    every = made.table("runs")
    versions = list(dict.fromkeys(one["version"] for one in every))
    kernels = [mine for mine in by_kernel(every) if len(mine) == len(versions)]
    yield from text(WORDS)
    kinds = sorted({f["kind"] for mine in kernels for one in mine for f in one["findings"]})
    columns = ("Triton", "kernels", "with a verdict", "without", "did not end", *kinds)
    mine = ([one for runs in kernels for one in runs if one["version"] == version] for version in versions)
    yield from table("l" + "r" * (len(columns) - 1), columns, (of_version(runs, kinds) for runs in mine))
    yield from text("A kind's column counts kernels. Kernels that have not been run under all versions are left out.")
    yield from made.note()
    yield from heading("Kernels of which the versions say different things")
    different = [runs for runs in kernels if len({said(one) for one in runs if is_over(one)}) > 1]
    yield from table("ll", ("kernel", "versions and findings"), ((place(runs[0]), words(runs)) for runs in different))
    yield from heading("Every kernel under several versions")
    yield from long_table("lll", ("kernel", "commit", "said"), kernels, row, different, "those of which they differ")


def by_kernel(every: Sequence[Record]) -> Iterator[list[Record]]:
    """The runs of each kernel."""
    for folder in dict.fromkeys(one["folder"] for one in every):
        yield [one for one in every if one["folder"] == folder]


def of_version(mine: Sequence[Record], kinds: Sequence[str]) -> tuple[object, ...]:
    """The counts of a version."""
    outcomes = Counter(one["outcome"] for one in mine)
    seen = Counter(kind for one in mine for kind in {f["kind"] for f in one["findings"]})
    verdicts = sum(outcomes[name] for name in ("judged", "warned of", "accused"))
    late = outcomes["did not end"]
    counts = (len(mine), verdicts, len(mine) - verdicts - late, late)
    return (mine[0]["version"] if mine else "", *counts, *(seen[kind] for kind in kinds))


def is_over(one: Record) -> bool:
    return bool(one["outcome"] != "did not end")


def said(one: Record) -> str:
    """What a version says of a kernel: its findings, or why there are none."""
    found = sorted(
        {"{kind} ({severity})".format(**f) + (f" on line {f['line']}" if f["line"] else "") for f in one["findings"]}
    )
    return "; ".join(found) if found else one["outcome"] + (f": {one['why']}" if one["why"] else "")


def words(runs: Sequence[Record]) -> str:
    """What the versions say, each thing once."""
    things = dict.fromkeys(map(said, runs))
    return ". ".join(f"{', '.join(one['version'] for one in runs if said(one) == thing)}: {thing}" for thing in things)


def place(one: Record) -> str:
    return f"{one['repository']}: {one['path']}:{one['line']} {one['name']}"


def row(runs: Sequence[Record]) -> tuple[object, ...]:
    return place(runs[0]), runs[0]["commit"][:10], words(runs)
