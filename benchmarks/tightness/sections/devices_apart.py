"""How far apart two devices' answers lie."""

from benchmarks.measurement import Measurement, Record
from benchmarks.page import Blocks, largest, long_table, text


def show(made: Measurement) -> Blocks:
    one, other = made["devices"]
    yield from text(
        "Every correct kernel ran the same cases and launches on both devices. The table counts the elements whose",
        "bits differ, and gives the largest difference in units in the last place.",
    )
    yield from made.note()
    columns = ("kernel", "trials", "elements", f"other bits on {one} and {other}", "most ulps", "outside the enclosure")
    every = made.table("kernels")
    far = largest(every, lambda apart: (apart["broken"], apart["most_ulps"]))
    yield from long_table("lrrrrr", columns, every, cells, far, "those that differ most")


def cells(apart: Record) -> tuple[object, ...]:
    share = f"{apart['unlike']} ({100 * apart['unlike'] / max(apart['elements'], 1):.1f} %)"
    return (f"`{apart['kernel']}`", apart["trials"], apart["elements"], share, apart["most_ulps"], apart["broken"])
