"""Wrong extensions on both devices."""

from collections.abc import Iterable

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, long_table, text

COLUMNS = ("wrong extension", "both", "the cpu alone", "the gpu alone")


def show(made: Measurement) -> Blocks:
    wrong = made.table("wrong")
    yield from text(
        f"The command runs every extension of the tests, with the same cases, on the cpu and on an {made['gpu']}:",
        f"{made['wrong_trials']} trials of each of {len(wrong)} wrong ones and {made['right_trials']} of each of",
        f"{made['right']} correct ones, without torch on either.",
    )
    apart = [one for one in wrong if {*one["cpu"]} != {*one["gpu"]}]
    yield from long_table("llll", COLUMNS, wrong, cells, apart, "those of which one device sees more")
    yield from text(f"Accused, of {made['right']} correct extensions: {', '.join(made['accused']) or 'none'}.")
    for one in made.table("not_run"):
        yield from text(f"{one['extension']} could not be run on the {one['device']}: {one['reason']}")
    yield from made.note()


def cells(one: Record) -> tuple[object, ...]:
    return (one["extension"], *show_sides({*one["cpu"]}, {*one["gpu"]}))


def show_sides(cpu: set[str], gpu: set[str]) -> Iterable[str]:
    """The kinds that both see, and those that one sees."""
    return (", ".join(sorted(kinds)) or "-" for kinds in (cpu & gpu, cpu - gpu, gpu - cpu))
