"""How far apart two devices' answers lie."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text


def show(made: Measurement) -> Lines:
    one, other = made["devices"]
    yield from text(
        "Every correct kernel ran the same cases and launches on both devices. The table counts the elements whose",
        "bits differ, and gives the largest difference in units in the last place.",
    )
    yield from made.note()
    columns = ("kernel", "trials", "elements", f"other bits on {one} and {other}", "most ulps", "outside the enclosure")
    yield from table("lrrrrr", columns, (
        (f"`{apart['kernel']}`", apart["trials"], apart["elements"],
         f"{apart['unlike']} ({100 * apart['unlike'] / max(apart['elements'], 1):.1f} %)", apart["most_ulps"],
         apart["broken"])
        for apart in made.table("kernels")
    ))  # fmt: skip
