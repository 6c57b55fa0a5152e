"""Measures the error of a device's own float32 exp on the floats in [-104, 0], and of exp2 in [-150, 0].

The result is a model (a0, kappa) that a claim may name. Knows the sweep and what its numbers mean; the device that
runs it is passed in.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from kfuzz.devices import Buffer, Device, DeviceError, Job, Probe, Step
from kfuzz.oracle.numbers.elements import F32, F64, U32, Element

SCHEMA = "kfuzz-exp/1"
SWEEP = Path(__file__).with_name("exp_sweep.cu")
LAST = int(np.float32(104.0).view(np.uint32))
"""How many floats lie in [-104, 0): below -104 the exp of a float is less than half the smallest subnormal."""

LAST_OF_BASE_2 = int(np.float32(150.0).view(np.uint32))
"""The same for exp2, in [-150, 0)."""

A0 = 5
"""The documented error of expf in u; kappa is the smallest that holds with it."""

FUNCTIONS = {"expf": "exp_sweep<Accurate>", "__expf": "exp_sweep<Fast>", "exp2f": "exp_sweep<Base2>"}
SWEEPS = tuple((function, flags) for function in FUNCTIONS for flags in ((), ("-ftz=true",)))
"""All functions, with and without denormals: all that a claim can name. exp2f without them is ex2.approx.ftz."""

STRIDES = {"gpu": 1, "cpu": 997}
"""A GPU tries every float in a second; a CPU tries one float in this many."""

BLOCKS = {"gpu": 2048, "cpu": 4}
THREADS = 256


@dataclass(frozen=True)
class ExpSweep:
    """The worst errors of one exp over the floats tried, in u = 2^-24; those of subnormal results in 2^-150."""

    function: str
    flags: tuple[str, ...]
    tried: int
    relative_error: float
    kappa: float
    subnormal_error: float
    flushed: int
    rises: int
    is_exact_at_ends: bool


def sweep_exp(device: Device, function: str, flags: tuple[str, ...], stride: int = 1) -> ExpSweep:
    """Sweep one exp under some compiler flags over every stride-th float in its range."""
    outcome = device.run(_job(function, flags, stride, BLOCKS[device.name]), Probe(runs=2, timeout=300.0))
    errors = [found.message for found in outcome.findings]
    if errors or not outcome.runs:
        raise DeviceError(f"the sweep of {function} did not come to an end: {'; '.join(errors) or 'no result'}")
    got = {name: np.asarray(array, np.float64) for name, array in outcome.runs[0].outputs.items()}
    return ExpSweep(
        function=function,
        flags=flags,
        tried=last_of(function) // stride + 1,
        relative_error=float(got["relative"].max()),
        kappa=float(got["kappa"].max()),
        subnormal_error=float(got["subnormal"].max()),
        flushed=int(got["flushed"].sum()),
        rises=int(got["rises"].sum()),
        is_exact_at_ends=got["ends"].tolist() == [1.0, 0.0],
    )


def last_of(function: str) -> int:
    """The number of the last float to try."""
    return LAST_OF_BASE_2 if function == "exp2f" else LAST


def _job(function: str, flags: tuple[str, ...], stride: int, blocks: int) -> Job:
    count = blocks * THREADS
    elements: dict[str, tuple[Element, int]] = {
        "relative": (F64, count),
        "kappa": (F64, count),
        "subnormal": (F64, count),
        "flushed": (U32, count),
        "rises": (U32, count),
        "ends": (F32, 2),
    }
    buffers = tuple(Buffer(name, element, (size,), is_output=True) for name, (element, size) in elements.items())
    entry = FUNCTIONS[function]
    step = Step(entry, (blocks, 1, 1), (THREADS, 1, 1), 0, (*elements, last_of(function), stride, A0))
    source = SWEEP.read_text(encoding="utf-8")
    return Job(f"sweep of {function}", SWEEP, source, flags, 256, buffers, (step,), tuple(FUNCTIONS.values()))


def as_document(sweeps: Sequence[ExpSweep], measured_on: dict[str, str]) -> dict[str, object]:
    """The sweeps and the place where they were measured, as a JSON document."""
    return {"schema": SCHEMA, "measured_on": measured_on, "a0": A0, "sweeps": [asdict(sweep) for sweep in sweeps]}


def describe_sweep(sweep: ExpSweep) -> str:
    """One sweep as a line for people."""
    name = " ".join((sweep.function, *sweep.flags))
    exact = "exact at 0 and -inf" if sweep.is_exact_at_ends else "NOT exact at 0 and -inf"
    steps = "monotone" if not sweep.rises else f"NOT monotone ({sweep.rises} rises)"
    small = f"{sweep.subnormal_error:.3f} x 2^-150" if not sweep.flushed else f"{sweep.flushed} flushed to 0"
    return (
        f"{name}: {sweep.tried} floats, {sweep.relative_error:.3f} u, kappa = {sweep.kappa:.4f} for a0 = {A0}, "
        f"subnormal results {small}, {exact}, {steps}"
    )
