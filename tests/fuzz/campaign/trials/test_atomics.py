"""atomicAdd on floats in global memory flushes denormals: the oracle allows it, and both devices do it."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from paths import DATA

from benchmarks.tightness.gpu_atomics import LEAST_NORMAL, PAIRS, exact, try_operation
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import Case
from kfuzz.claims.kernel import load, read
from kfuzz.claims.language.kernel_file import parse
from kfuzz.devices import Device, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.oracle import Accuracy, judge

PLANTED = DATA / "planted" / "atomic_row_sum.cu"


@pytest.fixture(scope="module", params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with closing(CpuDevice() if request.param == "cpu" else GpuDevice()) as one:
        yield one


def flushed(value: np.float32) -> np.float32:
    return np.copysign(np.float32(0), value) if abs(value) < 2.0**-126 else value


def atomic_sum(x: np.ndarray) -> np.ndarray:
    """The sum of a row into a cleared cell, as PTX describes atom.add.f32 in global memory."""
    cell = np.float32(0)
    for value in x:
        cell = flushed(flushed(cell) + flushed(value))
    return np.array([cell], "f4")


@pytest.mark.parametrize("x", [[6.8e-41, -3.4e-41], [2.0**-126, -1.5 * 2.0**-126], [1e-39, 1e-39, 1e-39]])
def test_what_a_global_atomic_flushes_is_kept_and_without_the_lemma_accused(x: list[float]) -> None:
    row = np.array([x], "f4")
    y = atomic_sum(row[0])
    assert y == 0
    assert judge("row_sum", {"x": row}, {"y": y}, Accuracy(atomics="global")).status == "kept"
    assert judge("row_sum", {"x": row}, {"y": y}).status == "broken"


def test_a_row_of_one_denormal_may_be_lost_on_its_way_into_a_cleared_cell() -> None:
    x = np.array([[4.3e-41], [-8.4e-41], [3e-38]], "f4")
    y = np.concatenate([atomic_sum(row) for row in x])
    assert y.tolist() == [0, 0, x[2, 0]]
    assert judge("row_sum", {"x": x}, {"y": y}, Accuracy(atomics="global")).status == "kept"
    assert judge("row_sum", {"x": x}, {"y": y}).status == "broken"
    y[2] = np.nextafter(y[2], np.float32(1))
    assert judge("row_sum", {"x": x}, {"y": y}, Accuracy(atomics="global")).status == "broken"


def test_flushed_terms_of_a_row_may_be_lost_and_nothing_larger() -> None:
    rng = np.random.default_rng(1)
    x = (rng.choice([-1, 1], (300, 9)) * 2.0 ** rng.uniform(-130, -124, (300, 9))).astype("f4")
    y = np.concatenate([atomic_sum(row) for row in x])
    assert judge("row_sum", {"x": x}, {"y": y}, Accuracy(atomics="global")).status == "kept"
    y[7] += np.float32(9 * 2.0**-124)
    assert judge("row_sum", {"x": x}, {"y": y}, Accuracy(atomics="global")).status == "broken"


def test_a_product_and_an_exponential_may_be_flushed_too() -> None:
    a, b = np.array([[2.0**-70]], "f4"), np.array([[2.0**-60]], "f4")
    zero = np.zeros((1, 1), "f4")
    assert judge("sgemm", {"a": a, "b": b}, {"c": zero}, Accuracy(atomics="global")).status == "kept"
    assert judge("sgemm", {"a": a, "b": b}, {"c": zero}).status == "broken"
    states = {"m": np.zeros(1, "f4"), "s": np.array([2.0**-130], "f4")}
    got = {"m": np.zeros(1, "f4"), "s": np.zeros(1, "f4")}
    assert judge("merge_all", states, got, Accuracy(atomics="global", rescales=0)).status == "kept"
    assert judge("merge_all", states, got, Accuracy(rescales=0)).status == "broken"


@pytest.mark.slow
def test_a_sum_by_atomics_is_flushed_and_kept_on_every_device(device: Device) -> None:
    kernel = load(PLANTED)
    x = np.array([[6.8e-41, -3.4e-41, 0], [2.0**-126, -1.5 * 2.0**-126, 0], [1, 2, 3]], "f4")
    case = Case("row_sum", {"rows": 3, "cols": 3}, {"x": x})
    for check in (False, True):
        trial = run_trial(kernel, case, {"threads": 32}, device, Probe(check=check))
        assert trial.errors == ()
    silent = read(parse(PLANTED, PLANTED.read_text().replace('atomics = "global"', 'atomics = "none"')))
    trial = run_trial(silent, case, {"threads": 32}, device, Probe())
    assert [defect.diagnosis for defect in trial.errors] == ["zero elements"]


@pytest.mark.slow
def test_what_flushes_is_the_addition_of_floats_in_global_memory_alone(device: Device) -> None:
    for kind in ("float", "double"):
        for how in ("Atom", "Red", "Exchange", "MaxOfBits", "CompareAndSwap")[: 5 if kind == "float" else 2]:
            for place in (0, 1):
                one = try_operation(device, kind, how, place)
                flushes = kind == "float" and how in ("Atom", "Red") and not place
                assert (one.after == (np.zeros(len(PAIRS)) if flushes else exact(how))).all(), (kind, how, place)


@pytest.mark.gpu
def test_narrow_types_are_seen_to_do_what_the_page_says() -> None:
    with closing(GpuDevice()) as gpu:
        for kind in LEAST_NORMAL:
            if "half" in kind or "bfloat" in kind:
                for how in ("Atom", "Red"):
                    for place in (0, 1):
                        one = try_operation(gpu, kind, how, place)
                        assert ((one.after == exact(how)) | (one.after == 0)).all(), (kind, how, place, one.after)
