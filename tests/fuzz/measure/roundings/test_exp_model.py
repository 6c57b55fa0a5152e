"""The sweep that measures an exp: its report on right and on wrong ones, on the cpu device."""

import json
from collections.abc import Iterator
from dataclasses import replace
from math import ulp
from pathlib import Path

import numpy as np
import pytest

from kfuzz.devices import Job, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.roundings import exp_model
from kfuzz.measure.roundings.exp_model import LAST, LAST_OF_BASE_2, last_of, sweep_exp
from kfuzz.oracle.accuracy.rounding import EXP2_SCALED, EXPF, FAST_EXP2_SCALED, FAST_EXPF

STRIDE = 100_003


class Edited:
    """The cpu device with other text in the place of `return expf(t)`."""

    name = "cpu"

    def __init__(self, cpu: CpuDevice, body: str) -> None:
        self._cpu, self._body = cpu, body

    def run(self, job: Job, probe: Probe) -> Outcome:
        assert job.source.count("return expf(t)") == 1
        return self._cpu.run(replace(job, source=job.source.replace("return expf(t)", f"return {self._body}")), probe)

    def close(self) -> None:
        """The device is not ours."""


@pytest.fixture(scope="module")
def cpu() -> Iterator[CpuDevice]:
    with CpuDevice() as device:
        yield device


def test_the_sweep_ends_at_minus_104() -> None:
    assert np.uint32(0x80000000 + LAST).view(np.float32) == -104
    assert np.exp(np.float64(-104)) < 2.0**-150
    assert np.uint32(0x80000000 + LAST_OF_BASE_2).view(np.float32) == -150


def test_both_functions_keep_their_documented_models(cpu: CpuDevice) -> None:
    accurate, fast = (sweep_exp(cpu, function, (), STRIDE) for function in ("expf", "__expf"))
    assert accurate.tried == fast.tried == LAST // STRIDE + 1
    assert 0 < accurate.relative_error <= EXPF.a0
    assert accurate.kappa == 0
    assert 0 < fast.kappa <= FAST_EXPF.kappa
    assert fast.relative_error > EXPF.a0
    assert accurate.is_exact_at_ends
    assert fast.is_exact_at_ends
    assert accurate.rises == 0
    two = sweep_exp(cpu, "exp2f", (), STRIDE)
    assert two.tried == LAST_OF_BASE_2 // STRIDE + 1
    assert 0 < two.relative_error <= FAST_EXP2_SCALED.a0 <= EXP2_SCALED.a0
    assert two.is_exact_at_ends


def test_the_largest_error_is_that_of_the_floats_tried(cpu: CpuDevice) -> None:
    """With every result one float too high, the sweep must see just the error that numpy computes for the same."""
    shifted = sweep_exp(Edited(cpu, "nextafterf((float)exp((double)t), 2.0f)"), "expf", (), STRIDE)
    floats = (np.uint32(0x80000000) + np.arange(0, LAST + 1, STRIDE, dtype=np.uint32)).view(np.float32)
    want = np.exp(floats.astype(np.float64))
    got = np.nextafter(want.astype(np.float32), np.float32(2))
    normal = got >= 2.0**-126
    error = np.abs(got.astype(np.float64) - want)[normal] / want[normal] * 2.0**24
    # both sides round a double's exp, and the C++ and numpy ones may differ in its last bit: 2^-52 of it is 2^-28 u
    assert shifted.relative_error == pytest.approx(error.max(), rel=0, abs=3 * 2.0**-28 + ulp(4.0))


def test_denormals_flushed_to_zero_are_counted(cpu: CpuDevice) -> None:
    flushed = sweep_exp(cpu, "expf", ("-ftz=true",), STRIDE)
    assert flushed.flushed > 0
    assert sweep_exp(cpu, "expf", (), STRIDE).flushed == 0
    assert "flushed to 0" in exp_model.describe_sweep(flushed)


def test_an_exp_that_is_off_is_reported_as_off(cpu: CpuDevice) -> None:
    worse = sweep_exp(Edited(cpu, "expf(t) * 1.000001f"), "expf", (), STRIDE)
    assert worse.relative_error > 1e-6 * 2**24 - EXPF.a0
    assert not worse.is_exact_at_ends
    assert "NOT exact" in exp_model.describe_sweep(worse)


def test_an_exp_that_rises_is_reported_as_not_monotone(cpu: CpuDevice) -> None:
    rising = sweep_exp(Edited(cpu, "(__float_as_uint(t) & 1) ? expf(t) * 1.00001f : expf(t)"), "expf", (), STRIDE)
    assert rising.rises > 0
    assert "NOT monotone" in exp_model.describe_sweep(rising)


def test_the_models_in_the_repository_say_where_they_are_from() -> None:
    for file in sorted((Path(exp_model.__file__).parent / "exp_models").glob("*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        assert document["schema"] == exp_model.SCHEMA
        assert {"device", "on", "compiler", "day"} <= set(document["measured_on"])
        swept = [(sweep["function"], tuple(sweep["flags"])) for sweep in document["sweeps"]]
        assert swept == [one for one in exp_model.SWEEPS if one in swept]
        assert all(sweep["tried"] == last_of(sweep["function"]) + 1 for sweep in document["sweeps"])
