"""What each device and tool shows of planted bugs in asynchronous work."""

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, long_table, text

COLUMNS = ("pair", "kind", "cpu device", "GPU with the bug", "compute-sanitizer", "GPU without it", "compute-sanitizer")


def show(made: Measurement) -> Blocks:
    every = made.table("pairs")
    yield from text(
        "Each pair is a case of a program of the tests, with its bug and without it. The cpu device: of",
        f"{made['seeds']} seeds, those in which an error of the kind stands on the line of the bug; it accuses no",
        f"case without a bug unless the cell says so. A GPU: {made['runs']} runs of each case in one process; it",
        f"never ends if it takes more than {made['seconds']} s. Cases of early launches do not look at their answers.",
        "compute-sanitizer: the tools that complain, of memcheck, racecheck, initcheck and synccheck. What only",
        "Blackwell has was not run on a GPU.",
    )
    yield from long_table(
        "lllllll", COLUMNS, every, row_of, [one for one in every if shows(one, made["seeds"])],
        "those that show on the GPU or under compute-sanitizer, or that the cpu device misses or wrongly accuses",
    )  # fmt: skip
    yield from made.note()


def shows(one: Record, seeds: int) -> bool:
    """Whether the GPU or compute-sanitizer tells anything of the pair, or the cpu device errs."""
    cpu, gpu, tools = one["cpu"], one["gpu"], one["sanitize"]
    errs = cpu is not None and (cpu["seeds"] < seeds or bool(cpu["accused"]))
    return errs or bool(gpu and gpu["wrong"] != gpu["right"]) or bool(tools and (tools["wrong"] or tools["right"]))


def row_of(one: Record) -> list[object]:
    cpu, gpu, tools = one["cpu"], one["gpu"], one["sanitize"]
    return [
        f"`{one['pair']}`", one["kind"], of_cpu(cpu),
        endings(gpu and gpu["wrong"]), complaints(tools and tools["wrong"]),
        endings(gpu and gpu["right"]), complaints(tools and tools["right"]),
    ]  # fmt: skip


def of_cpu(found: Record | None) -> str:
    if found is None:
        return "not run"
    return f"{found['seeds']}" + (f", accuses the right one in {found['accused']}" if found["accused"] else "")


def endings(runs: dict[str, int] | None) -> str:
    return "not run" if runs is None else ", ".join(f"{how} {number}" for how, number in sorted(runs.items()))


def complaints(said: list[str] | None) -> str:
    return "not run" if said is None else ", ".join(said) or "-"
