"""Campaigns over all right kernels: how many trials, and what was accused."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text

COLUMNS = ("commit", "device", "machine", "processes", "seconds", "trials", "rows", "elements", "accused")


def show(made: Measurement) -> Lines:
    runs = made.table("runs")
    yield from text(
        f"Campaigns over all {max(one['kernels'] for one in runs)} kernels that come with kfuzz and are right. Each is",
        f"tried at least {min(one['fewest'] for one in runs)} times in each run, and an accusation is any error:",
    )
    yield from table("lllrrrrrl", COLUMNS, (
        (
            one["commit"], one["device"], one["machine"], f"{one['processes']}", f"{one['seconds']}",
            f"{one['trials']:,}", f"{one['rows']:,}", f"{one['elements']:,}", ", ".join(one["accused"]) or "none",
        )
        for one in runs
    ))  # fmt: skip
    yield from made.note()
