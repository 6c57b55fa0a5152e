"""How far apart two devices' answers lie."""

from benchmarks.measurement import Measurement
from benchmarks.page import Lines, table, text


def show(made: Measurement) -> Lines:
    one, other = made["devices"]
    yield from text(
        "The same cases and launches, run through every correct kernel on both devices: how many elements have",
        "different bits, and by how many floats at most.",
    )
    yield from made.note()
    columns = ("kernel", "trials", "elements", f"other bits on {one} and {other}", "most ulps", "outside the enclosure")
    yield from table("lrrrrr", columns, (
        (f"`{apart['kernel']}`", apart["trials"], apart["elements"],
         f"{apart['unlike']} ({100 * apart['unlike'] / max(apart['elements'], 1):.1f} %)", apart["most_ulps"],
         apart["broken"])
        for apart in made.table("kernels")
    ))  # fmt: skip
