"""Find which atomics flush denormals, by type, place and instruction: python -m benchmarks.tightness.gpu_atomics [cpu]

Prints the table of docs/numerics.md#atomics. It runs on a GPU; with `cpu`, on the cpu device.
"""

import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.page import head, row
from kfuzz.devices import Buffer, Device, Job, Probe, Step
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.oracle.numbers.elements import F64, U32

SOURCE = Path(__file__).with_suffix(".cu")
COLUMNS = ("type", "operation", "memory", "flushed", "-0.75 becomes", "what it gives back")
LEAST_NORMAL = {"float": -126, "double": -1022, "__half": -14, "__half2": -14} | {
    "__nv_bfloat16": -126, "__nv_bfloat162": -126,
}  # fmt: skip
"""The exponent of the least normal number."""

ADDITIONS = tuple((kind, how, place) for kind in LEAST_NORMAL for how in ("Atom", "Red") for place in (0, 1))
OTHERS = tuple(("float", how, place) for how in ("Exchange", "MaxOfBits", "CompareAndSwap") for place in (0, 1))
ON_THE_CPU = ("float", "double")

PAIRS = {"operand in the cell": (0.75, 0.0), "operand added": (0.0, 0.75), "negative operand": (-0.75, -0.0),
         "result of denormals": (0.75, -0.25), "result of normals": (1.5, -1.0)}  # fmt: skip
"""The value in the cell and the value added, in units of the least normal number; each pair should leave a denormal."""
SIGNED = 2
"""The pair that shows what happens to a sign."""


@dataclass(frozen=True)
class Seen:
    """The values that one operation left and returned for every pair, in units of the least normal number."""

    kind: str
    how: str
    place: int
    after: NDArray[np.float64]
    before: NDArray[np.float64]


def exact(how: str) -> NDArray[np.float64]:
    """The value that the operation leaves if nothing is flushed."""
    a, b = (np.array(column) for column in zip(*PAIRS.values(), strict=True))
    match how:
        case "Exchange":
            return b
        case "MaxOfBits":  # of negative floats the larger bits, as an int, are those further from zero
            return np.where(np.signbit(a), a, np.maximum(a, b))
        case _:
            return a + b


def entry(kind: str, how: str, place: int) -> str:
    return f"one<{kind}, {how}, {'true' if place else 'false'}>"


def try_operation(device: Device, kind: str, how: str, place: int) -> Seen:
    """One operation, tried on every pair."""
    unit, count = 2.0 ** LEAST_NORMAL[kind], len(PAIRS)
    a, b = (np.array(column) * unit for column in zip(*PAIRS.values(), strict=True))
    buffers = (
        Buffer("after", F64, (count,), is_output=True), Buffer("before", F64, (count,), is_output=True),
        Buffer("cells", U32, (2 * count,), fill=0), Buffer("a", F64, (count,), content=a),
        Buffer("b", F64, (count,), content=b),
    )  # fmt: skip
    name = entry(kind, how, place)
    step = Step(name, (1, 1, 1), (count, 1, 1), 0, tuple(one.name for one in buffers))
    text = SOURCE.read_text(encoding="utf-8")
    outcome = device.run(Job("atomics", SOURCE, text, (), 256, buffers, (step,), (name,)), Probe())
    errors = [found.message for found in outcome.findings if found.severity == "error"]
    if errors:
        raise SystemExit(f"{name}: {'; '.join(errors)}")
    got = {role: np.asarray(array, np.float64) / unit for role, array in outcome.runs[0].outputs.items()}
    return Seen(kind, how, place, got["after"], got["before"])


def cells_of(one: Seen) -> tuple[str, ...]:
    """One row of the table: what is flushed, and whether the operation returns the former value of the cell."""
    first = np.array([a for a, _ in PAIRS.values()])
    same = "" if one.how == "Red" else ("as it was" if (one.before == first).all() else f"{one.before.tolist()}")
    lost = [name for name, left, right in zip(PAIRS, one.after, exact(one.how), strict=True) if left != right]
    others = [f"{left:g}" for left, right in zip(one.after, exact(one.how), strict=True) if left not in (right, 0)]
    left = ("all" if len(lost) == len(PAIRS) else ", ".join(lost) or "nothing") + "".join(f" ({o}!)" for o in others)
    sign = ("-" if np.signbit(one.after[SIGNED]) else "+") + ("0" if one.after[SIGNED] == 0 else "0.75")
    return (f"`{one.kind}`", one.how, "shared" if one.place else "global", left, sign, same)


def main() -> None:
    """Print the table for the device at hand."""
    on_cpu = sys.argv[1:] == ["cpu"]
    with closing(CpuDevice() if on_cpu else GpuDevice()) as device:
        print("\n".join(head("llllll", COLUMNS)))
        for kind, how, place in (*ADDITIONS, *OTHERS):
            if not on_cpu or kind in ON_THE_CPU:
                print(row(cells_of(try_operation(device, kind, how, place))), flush=True)


if __name__ == "__main__":
    main()
