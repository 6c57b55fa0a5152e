"""Whether kfuzz's changes to Triton's interpreter work in the version that is installed: a launch of known answers.

The interpreter is private to Triton and changes between its versions. Knows what the changes are for; it knows no
version.
"""

import linecache
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import torch
import triton
from triton import language as tl

from kfuzz.devices import Finding

LANES, LAST = 8, 5
X = (1.00390625, 1.01171875, 1000.0, float("nan"), -2.5, 0.0, 7.0, 9.0)
"""The first two lie between two numbers of bfloat16; the third is beyond the largest of e4m3."""
DOUBLED = [2 * one for one in X[:LAST]]
BFLOAT16 = [1.0, 1.015625]
FLOAT8 = [1.0, 1.0, 448.0]


@triton.jit  # type: ignore[untyped-decorator]  # triton is not there where types are checked
def every_change(x, y, lanes: tl.constexpr, last):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Rows of y: the double, bfloat16, float8, lanes that `and` leaves over, and a store that is beyond y."""
    i = tl.arange(0, lanes)
    whole = tl.load(x + i)
    inside = i < last and i >= 0
    tl.store(y + i, 2.0 * tl.load(x + i, mask=inside))
    tl.store(y + lanes + i, whole.to(tl.bfloat16).to(tl.float32))
    tl.store(y + 2 * lanes + i, whole.to(tl.float8e4nv).to(tl.float32))
    tl.store(y + 3 * lanes + i + 1, i.to(tl.float32))


def failing_check(watch: Callable[[], AbstractContextManager[Sequence[Finding]]]) -> str:
    """What does not work, in a few words; empty if all does. `watch` gives the findings of the launches in it."""
    name, text = every_change.fn.__code__.co_filename, Path(__file__).read_text(encoding="utf-8")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # in a worker code has no file
    x, y = torch.tensor(X), torch.full((4, LANES), -1.0)
    with watch() as findings:
        every_change[(1,)](x, y, lanes=LANES, last=LAST)
    plain, bfloat16, float8, moved = y.tolist()
    is_nan = [math.isnan(one) for one in plain]
    checks = {
        "a product": [one for place, one in enumerate(plain[:LAST]) if place != 3] == [*DOUBLED[:3], DOUBLED[4]],
        "masked lanes": is_nan == [False, False, False, True, False, True, True, True],
        "bfloat16": bfloat16[: len(BFLOAT16)] == BFLOAT16,
        "float8": float8[: len(FLOAT8)] == FLOAT8 and math.isnan(float8[3]),
        "a store": moved == [-1.0, *(float(one) for one in range(LANES - 1))],
        "bounds": [one.kind for one in findings] == ["out-of-bounds"],
    }
    return ", ".join(name for name, works in checks.items() if not works)
