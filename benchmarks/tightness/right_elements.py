"""Count the elements of torch's right answers on a CPU that kfuzz accuses, in float32, float16 and bfloat16.

    python -m benchmarks.tightness measure right_elements [--minutes N] [--only OP] [--kept FILE]

Each op and type has seeds 0, 1, ...; each seed is one call of torch on other numbers, and `kfuzz.oracle.judge` judges
its answer under what torch's source says of its roundings. FILE, data/right_elements/torch_on_cpu.json, which git
ignores, keeps the sums after each round over all ops: the same command goes on from there, and starts with seed 0 where
there is none. No element may lie outside.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F  # noqa: N812  its own documentation calls it so

from benchmarks.measurement import Figures, Record, write_json
from benchmarks.tightness.gradients import as_array
from kfuzz.devices.python.libraries.torch import LIBRARY
from kfuzz.oracle import Accuracy, Special, judge
from kfuzz.oracle.accuracy.rounding import FunctionModel
from kfuzz.oracle.judging.find_op import find

Numbers = NDArray[Any]
Shapes = dict[str, tuple[int, ...]]
KEPT = Path(__file__).parent / "data" / "right_elements" / "torch_on_cpu.json"
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
TORCH = {kind: Accuracy(ftz=kind in LIBRARY.arithmetic.flushed) for kind in TYPES}
ERF = {"erf": FunctionModel(*LIBRARY.arithmetic.functions["erf"])}
ERF_OF_TORCH = {kind: replace(one, functions=ERF) for kind, one in TORCH.items()}
NARROW_SUMS = {kind: replace(TORCH[kind], accumulate=kind) for kind in ("f16", "bf16")}
"""torch's cumsum holds its running sum in the tensor's own type."""


@dataclass(frozen=True)
class Called:
    """An op of the catalogue as torch has it: the shapes of its inputs, and the call.

    `positive`: inputs above 0. `below`: integers below a number. `claims`: other claims than TORCH's. `types`: those in
    which torch is right.
    """

    op: str
    shapes: Shapes
    call: Callable[..., Any]
    positive: tuple[str, ...] = ()
    below: dict[str, int] | None = None
    claims: dict[str, Accuracy] | None = None
    types: tuple[str, ...] = tuple(TYPES)


@dataclass
class Count:
    """What an op has in one type: its next seed, its judged elements, those outside, and the largest error."""

    seeds: int = 0
    elements: int = 0
    outside: int = 0
    worst: float = 0.0
    first: int = -1
    """The first seed with an element outside."""


MANY = {"x": (512, 1024)}
ROWS = {"x": (256, 1024)}
OPS = (
    Called("gelu", MANY, F.gelu, claims=ERF_OF_TORCH),
    Called("gelu_tanh", MANY, lambda x: F.gelu(x, approximate="tanh")),
    Called("silu", MANY, F.silu),
    Called("swiglu", {"a": (512, 1024), "b": (512, 1024)}, lambda a, b: F.silu(a.float()) * b.float()),
    Called("softmax", ROWS, lambda x: torch.softmax(x, -1)),
    Called("log_softmax", ROWS, lambda x: torch.log_softmax(x, -1), types=("f32",)),  # docs/found.md has the others
    Called("layer_norm", {**ROWS, "w": (1024,), "b": (1024,)}, lambda x, w, b: F.layer_norm(x, w.shape, w, b, 1e-5)),
    Called("rms_norm", {**ROWS, "w": (1024,)}, lambda x, w: F.rms_norm(x, w.shape, w, 1e-6)),
    Called(
        "batch_norm", {"x": (16, 64, 512), "mean": (64,), "var": (64,), "w": (64,), "b": (64,)},
        F.batch_norm, ("var",),
    ),
    Called("prefix_sum", ROWS, lambda x: x.cumsum(-1), claims=NARROW_SUMS),
    Called("row_sum", {"x": (4096, 64)}, lambda x: x.sum(-1)),
    Called("sgemm", {"a": (512, 48), "b": (48, 512)}, lambda a, b: a @ b),
    Called("conv2d", {"x": (4, 8, 66, 66), "w": (32, 8, 3, 3), "bias": (32,)}, F.conv2d),
    Called("max_pool2d", {"x": (8, 16, 64, 64)}, lambda x: F.max_pool2d(x, (1, 2))),
    Called("avg_pool2d", {"x": (8, 16, 128, 128)}, lambda x: F.avg_pool2d(x, (1, 2))),
    Called(
        "embedding", {"index": (4096,), "w": (512, 128)}, lambda index, w: F.embedding(index.long(), w),
        below={"index": 512},
    ),
)  # fmt: skip


def numbers(rng: np.random.Generator, shape: tuple[int, ...], way: int) -> Numbers:
    """Finite numbers of one of five distributions."""
    x = rng.standard_normal(shape)
    if way == 1:
        return np.ldexp(x, rng.integers(-12, 4, shape))
    if way == 2:
        return x + 1000.0 * rng.standard_normal((*shape[:-1], 1))
    if way == 3:
        return x * (rng.random(shape) < 0.2)
    return rng.integers(-8, 9, shape).astype(np.float64) if way == 4 else x


def inputs_of(called: Called, kind: str, seed: int) -> dict[str, Any]:
    """The tensors of one call."""
    rng, made = np.random.default_rng([seed, *called.op.encode()]), {}
    for role, shape in called.shapes.items():
        if called.below and role in called.below:
            made[role] = torch.from_numpy(rng.integers(0, called.below[role], shape).astype(np.int32))
            continue
        x = numbers(rng, shape, seed % 5)
        made[role] = torch.from_numpy(np.abs(x) + 2.0**-10 if role in called.positive else x).to(TYPES[kind])
    return made


def look_at(called: Called, kind: str, count: Count) -> None:
    """Judge one more call, and count it."""
    given = inputs_of(called, kind, count.seeds)
    (output,) = find(called.op).outputs
    answer = as_array(called.call(*given.values()))
    claim = (called.claims or {}).get(kind, TORCH[kind])
    asked = {role: as_array(one) for role, one in given.items()}
    found = judge(called.op, asked, {output: answer}, claim, Special(nan="ieee", pos_inf="ieee"))
    count.elements += found.judged
    count.worst = max(count.worst, found.ratio)
    if found.is_outside:
        count.outside += found.extent.wrong if found.extent else 1
        count.first = count.seeds if count.first < 0 else count.first
        print(f"{called.op} {kind}, seed {count.seeds}: {found.status}: {found.worst}", file=sys.stderr, flush=True)
    count.seeds += 1


def read(kept: Path) -> dict[str, Count]:
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    return {name: Count(**one) for name, one in found.items()}


@np.errstate(all="ignore")
def measure(arguments: Sequence[str]) -> Figures:
    """Go on for so many minutes, and return the sums of all calls so far."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=0.0, help="how long to go on; 0 returns the kept sums")
    parser.add_argument("--only", default="", help="one op")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the file of the sums")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    asked.kept.parent.mkdir(parents=True, exist_ok=True)
    counts, end = read(asked.kept), time.monotonic() + 60 * asked.minutes
    while time.monotonic() < end:
        for called in [one for one in OPS if one.op.startswith(asked.only)]:
            for kind in called.types:
                look_at(called, kind, counts.setdefault(f"{called.op} {kind}", Count()))
        asked.kept.write_text(write_json({name: asdict(one) for name, one in counts.items()}), encoding="utf-8")
    if not counts:
        parser.error(f"{asked.kept} has no sums yet: give --minutes")
    rows = [record(*name.split(), one) for name, one in counts.items()]
    return Figures({"torch": torch.__version__, "types": [*TYPES]}, {"ops": rows})


def record(op: str, kind: str, one: Count) -> Record:
    """The sums of an op in a type."""
    sums = {"calls": one.seeds, "elements": one.elements, "outside": one.outside, "worst": one.worst}
    return {"op": op, "type": kind, **sums}
