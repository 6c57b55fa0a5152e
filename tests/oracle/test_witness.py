"""A witness: a correct answer nearly always has one, a wrong one never, and asking for it loses no clash."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.bounds.joint.boxes import Boxes
from kfuzz.oracle.bounds.joint.contraction import contract, contract_tape, tape_of
from kfuzz.oracle.bounds.joint.witness import _least_squares, find_rows_without_witness
from kfuzz.oracle.bounds.question import Question
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import F32
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.names import names_at
from kfuzz.oracle.proof.simulations import Setting, simulate
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.simulated import KernelManner
from kfuzz.oracle.systems.value import Quantity

ROWS, COLS = 40, 257

Rows = NDArray[np.float64]


def simulated_norms() -> Iterator[tuple[str, Bands, Quantity, Rows]]:
    """Norms whose answers are a simulated kernel's: the sets, and what it gives."""
    draw = np.random.default_rng(15)
    for name in ("layer_norm", "rms_norm"):
        op = find(name)
        shapes = {"x": (ROWS, COLS), "w": (COLS,), "b": (COLS,)}
        arrays = {role: draw.standard_normal(shapes[role]).astype(np.float32) for role in op.inputs}
        numbers = {role: array.astype(np.float64) for role, array in arrays.items()}
        setting = Setting(op.forms[0] if op.forms else "", KernelManner("tree", "any", seed=3))
        claim = setting.claim(names_at(op, numbers).sums)
        question = Question(op, arrays, claim, Special(), {}, {"y": F32})
        with np.errstate(all="ignore"):
            yield name, question.bands[0], question.results[0]["y"], simulate(op, setting, claim, numbers, F32)["y"]


ASKED = {name: rest for name, *rest in simulated_norms()}


def lacking(name: str, got: Rows) -> NDArray[np.bool_]:
    band, out, _ = ASKED[name]
    tape = tape_of(out)
    with np.errstate(all="ignore"):
        return find_rows_without_witness(band, Boxes(band, tape, out.shape, None), tape, out, got)


def two_values(name: str, off: float) -> Rows:
    """The same answers, but of the first half of every other row by a factor that is so many units off."""
    got = ASKED[name][2].copy()
    got[::2, : COLS // 2] *= 1 + off * 2.0**-24
    return got.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("name", ASKED)
def test_most_rows_of_a_right_norm_have_a_witness(name: str) -> None:
    assert lacking(name, ASKED[name][2]).mean() < 0.5


@pytest.mark.parametrize("name", ASKED)
def test_a_row_of_two_values_has_no_witness(name: str) -> None:
    assert lacking(name, two_values(name, 64))[::2].all()


@pytest.mark.parametrize("off", [0, 4, 16, 64])
@pytest.mark.parametrize("name", ASKED)
def test_no_clash_is_lost_by_asking_for_a_witness(name: str, off: float) -> None:
    band, out, _ = ASKED[name]
    got = two_values(name, off)
    with np.errstate(all="ignore"):
        alone = contract_tape(band, tape_of(out), out, got, np.isfinite(got), None)
    assert contract(band, out, got, None).keys() == alone.keys()
    assert off < 64 or alone.keys() == {(row,) for row in range(0, ROWS, 2)}


def test_a_claim_of_no_shared_value_has_no_witness() -> None:
    band, out, got = ASKED["layer_norm"]
    tape = tape_of(out)
    assert find_rows_without_witness(band, Boxes(band, tape, out.shape, ("mean",)), tape, out, got).all()


def test_two_columns_of_one_direction_end_no_judgement() -> None:
    """1e12 squared leaves nothing of the prior, so that the matrix of the normal equations is singular."""
    columns = [np.full((2, 4), 1e12, np.float32), np.full((2, 4), 1e12, np.float32)]
    moved = _least_squares(columns, np.full((2, 4), 2e12, np.float32))
    np.testing.assert_allclose(moved.sum(axis=-1), 2, rtol=1e-3)


CHOSEN = """
INPUTS = {"x": "float[rows, cols]"}
OUTPUTS = {"y": "float[rows, cols]"}


def formula(N, x):
    return x / N.maximum(N.sqrt(N.dot(x, x, "sum")), 0.5)
"""


def test_elements_that_need_two_values_of_one_choice_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "chosen.py"
    path.write_text(CHOSEN)
    x = np.random.default_rng(15).standard_normal((1, COLS)).astype(np.float32)
    question = Question(find(str(path)), {"x": x}, Accuracy(), Special(), {}, {"y": F32})
    band, out = question.bands[0], question.results[0]["y"]
    halves = np.where(np.arange(COLS) < COLS // 2, 1 + 16 * 2.0**-24, 1 - 16 * 2.0**-24)
    got = (x / np.linalg.norm(x.astype(np.float64)) * halves).astype(np.float32).astype(np.float64)
    assert ((got >= out.lo) & (got <= out.hi)).all()
    assert "cannot have come of the same 'value'" in contract(band, out, got, None)[0,].message((0,))
