"""Measure every function that a formula may name, on all 2^32 floats and all 16-bit numbers of this GPU.

    python -m benchmarks.tightness.gpu_functions --into oracle/accuracy/function_models [--stride 1] [--device gpu]

It writes one file, named after the GPU and its CUDA version, that the oracle's models read.
"""

import argparse
import itertools
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from kfuzz.campaign.device import open_device
from kfuzz.devices import Buffer, ClaimError, Device, Job, Probe, Step
from kfuzz.oracle.numbers.elements import BF16, F16, F64, U32, Element, values

SOURCE = Path(__file__).with_suffix(".cu")
APPROXIMATIONS = SOURCE.with_name("gpu_approximations.cu")
BLOCKS = {"gpu": 512, "cpu": 1}
THREADS = 256

FUNCTIONS = {
    "expf": ("exp", "Exp"), "exp2f": ("exp2", "Exp2"), "expm1f": ("expm1", "Expm1"), "logf": ("log", "Log"),
    "log2f": ("log2", "Log2"), "log1pf": ("log1p", "Log1p"), "log10f": ("log10", "Log10"),
    "sinf": ("sin", "Sin"), "cosf": ("cos", "Cos"), "__log2f": ("log2", "FastLog2"),
    "sqrtf": ("sqrt", "Sqrt"), "rsqrtf": ("rsqrt", "Rsqrt"),
    "1 / sqrtf": ("rsqrt", "RsqrtOfRoot"), "tanhf": ("tanh", "Tanh"), "erff": ("erf", "Erf"),
    "erfcf": ("erfc", "Erfc"), "__frcp_rn": ("reciprocal", "Reciprocal"), "__expf": ("exp", "FastExp"),
    "__logf": ("log", "FastLog"), "__fdividef": ("reciprocal", "FastReciprocal"),
    "tanh.approx": ("tanh", "ApproximateTanh"), "sqrt.approx": ("sqrt", "ApproximateSqrt"),
}  # fmt: skip
"""By the name in CUDA: the mathematical function, and its name in the CUDA file."""

NARROW = {
    "hexp": ("NarrowExp", np.exp), "hexp2": ("NarrowExp2", np.exp2), "hlog": ("NarrowLog", np.log),
    "hsqrt": ("NarrowSqrt", np.sqrt), "hrsqrt": ("NarrowRsqrt", lambda x: 1 / np.sqrt(x)),
    "hrcp": ("NarrowReciprocal", lambda x: 1 / x), "htanh": ("NarrowTanh", np.tanh),
    "htanh_approx": ("NarrowFastTanh", np.tanh),
}  # fmt: skip

ENDS = (0, 0x00800000, 0x1F800000, 0x39800000, 0x3F000000, 0x3F800000, 0x40000000, 0x42800000, 0x4B800000, 0x7F800000)
"""Bits of 0, 2^-126, 2^-64, 2^-12, 1/2, 1, 2, 64, 2^24 and infinity: two neighbours bound a range."""
NEAR_ONE = (0x3F000000, 0x3F800000)
"""The starts of the ranges in which a logarithm has its zero: there its error is absolute."""
RANGES = tuple((sign + a, sign + b - 1) for sign in (0, 1 << 31) for a, b in itertools.pairwise(ENDS))


def swept(device: Device, name: str, flags: tuple[str, ...], stride: int) -> dict[str, Any]:
    """One function over every stride-th float."""
    blocks, count = BLOCKS[device.name], len(RANGES)
    outputs = {
        "relative": F64, "at": U32, "absolute": F64, "denormal": F64, "flushed": U32, "odd": U32, "tried": U32,
    }  # fmt: skip
    bounds = np.array(RANGES, np.uint32)
    buffers = [Buffer(role, kind, (count, blocks), is_output=True) for role, kind in outputs.items()]
    buffers.append(Buffer("bounds", U32, bounds.shape, bounds))
    entry = f"function_sweep<{FUNCTIONS[name][1]}>"
    got = run(device, entry, flags, tuple(buffers), (blocks, count, 1), (*outputs, "bounds", stride))
    ranges = [
        of_range(first, last, {role: array[row] for role, array in got.items()})
        for row, (first, last) in enumerate(RANGES)
        if got["tried"][row].sum() or got["odd"][row].sum()
    ]
    return {"function": name, "of": FUNCTIONS[name][0], "flags": list(flags), "ranges": ranges}


def of_range(first: int, last: int, got: dict[str, Any]) -> dict[str, Any]:
    """The worst of all blocks, without zeros, and without absolute errors where no function is near a zero."""
    worst = int(np.argmax(got["relative"]))
    counted = {role: int(got[role].sum()) for role in ("flushed", "odd")}
    counted |= {"denormal": round(float(got["denormal"].max()), 3)}
    near_one = {"absolute": float(got["absolute"].max())} if first in NEAR_ONE else {}
    return {
        "from": hex_of(first), "to": hex_of(last), "tried": int(got["tried"].sum()),
        "relative": round(max(float(got["relative"][worst]), 0.0), 5), "at": hex_of(int(got["at"][worst])),
        **near_one, **{role: value for role, value in counted.items() if value},
    }  # fmt: skip


def hex_of(bits: int) -> str:
    """A float by its bits, as C writes it."""
    return re.sub(r"\.?0+p", "p", float(np.uint32(bits).view(np.float32)).hex())


def run(
    device: Device, entry: str, flags: tuple[str, ...], buffers: tuple[Buffer, ...], grid: tuple[int, int, int],
    args: tuple[str | int, ...],
) -> dict[str, Any]:  # fmt: skip
    """The output of one launch."""
    step = Step(entry, grid, (THREADS, 1, 1), 0, args)
    source = APPROXIMATIONS if "Approximate" in entry else SOURCE
    text = source.read_text(encoding="utf-8")
    outcome = device.run(Job("functions", source, text, flags, 256, buffers, (step,), entries(device, entry)), PROBE)
    errors = [found.message for found in outcome.findings if found.severity == "error"]
    if errors or not outcome.runs:
        raise SystemExit(f"{entry}: {'; '.join(errors) or 'no result'}")
    return dict(outcome.runs[0].outputs)


PROBE = Probe(runs=2, timeout=120.0)


def together() -> tuple[tuple[str, ...], ...]:
    """What is compiled at once on a GPU; older toolkits have no tanh of 16 bits."""
    of_floats = [f"function_sweep<{one}>" for _, one in FUNCTIONS.values()]
    of_16_bits = [f"{kind}_sweep<{one}>" for kind in ("half", "bfloat") for one, _ in NARROW.values()]
    apart = {
        "Approximate": [one for one in of_floats if "Approximate" in one],
        "": [one for one in of_floats if "Approximate" not in one],
        "Tanh": [one for one in of_16_bits if "Tanh" in one], "16": [one for one in of_16_bits if "Tanh" not in one],
    }  # fmt: skip
    return tuple(map(tuple, apart.values()))


TOGETHER = together()


def entries(device: Device, entry: str) -> tuple[str, ...]:
    return next(every for every in TOGETHER if entry in every) if device.name == "gpu" else (entry,)


def narrow(device: Device, name: str, kind: str, form: Element) -> dict[str, Any]:
    """One 16-bit function on every number: its worst error in units in the last place of the exact result."""
    got = run(device, f"{kind}_sweep<{NARROW[name][0]}>", (), (Buffer("y", BF16, (65536,), is_output=True),),
              (256, 1, 1), ("y",))["y"]  # fmt: skip
    bits = np.arange(65536, dtype=np.uint16)
    x, y = (values(part if form is BF16 else part.view(np.float16)) for part in (bits, got))
    with np.errstate(all="ignore"):
        want = NARROW[name][1](x.astype(np.longdouble))
        rounded = form.round(want.astype(np.float64))
        plain = np.isfinite(rounded) & np.isfinite(y)
        place = form.last_place(np.where(plain, want, 1.0).astype(np.float64))
        error = np.where(plain, np.abs(y - want) / place, 0.0).astype(np.float64)
    odd = ~plain & ~((np.isnan(y) & np.isnan(rounded)) | (y == rounded))
    flushed = plain & (y == 0) & (rounded != 0)
    worst = int(np.argmax(np.where(flushed, 0.0, error)))
    return {
        "function": name, "format": form.name, "tried": int(plain.sum()), "ulp": round(float(error[worst]), 6),
        "at": float(x[worst]).hex(), "wrong roundings": int((y[plain] != rounded[plain]).sum()),
        "flushed": int(flushed.sum()), "odd": int(odd.sum()),
    }  # fmt: skip


def measure_functions(device: Device, stride: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All functions, with those of 16 bits apart; functions that a device lacks are left out and named."""
    wide, small = [], []
    for flags in ((), ("-ftz=true",)):
        of_flags = [one for name in FUNCTIONS for one in tried(f"{name} {flags}", swept, device, name, flags, stride)]
        known = {one["function"]: one["ranges"] for one in wide}
        wide += [one for one in of_flags if known.get(one["function"]) != one["ranges"]]
    for kind, form in (("half", F16), ("bfloat", BF16)):
        small += [one for name in NARROW for one in tried(f"{name} {kind}", narrow, device, name, kind, form)]
    return wide, small


def tried(what: str, measure: Any, *asked: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401  one of the two above
    try:
        made = measure(*asked)
    except ClaimError as error:
        print(f"{what}: {str(error)[:200]}", flush=True)
        return
    worst = max((one["relative"] for one in made.get("ranges", ())), default=made.get("ulp"))
    print(f"{what}: {worst}", flush=True)
    yield made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--device", default="gpu")
    asked = parser.parse_args()
    with closing(open_device(asked.device)) as device:
        wide, small = measure_functions(device, asked.stride)
        on = gpu(asked.device)
    document = {"schema": "kfuzz-functions/1", "measured_on": on | {"day": str(date.today())}, "stride": asked.stride,
                "functions": wide, "narrow": small}  # fmt: skip
    asked.into.mkdir(parents=True, exist_ok=True)
    name = "_".join("".join(c if c.isalnum() else " " for c in f"{on['card']} CUDA {on['cuda']}".lower()).split())
    lines = re.sub(r"\n {3,}", " ", json.dumps(document, indent=1)).replace("}, {", "},\n   {").replace(" } ]", "} ]")
    (asked.into / f"{name}.json").write_text(lines + "\n", encoding="utf-8")


def gpu(device: str) -> dict[str, str]:
    """The name of the GPU, its driver and the CUDA version."""
    if device == "cpu":
        return {"card": "cpu", "driver": "", "cuda": "0"}
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    name, driver = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split("\n")[0].split(", ")
    told = subprocess.run(["nvcc", "--version"], check=True, capture_output=True, text=True).stdout
    return {"card": name, "driver": driver, "cuda": told.partition("release ")[2].partition(",")[0]}


if __name__ == "__main__":
    main()
