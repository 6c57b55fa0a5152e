"""Inputs with structure: what the op forbids is never generated, and what breaks kernels comes soon."""

from collections.abc import Callable

import numpy as np
import pytest
from paths import DATA

from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.cases.case import case_of
from kfuzz.cases.plans.choose import seeded_choices
from kfuzz.cases.plans.plan import plan
from kfuzz.cases.plans.structures import draw_integers, draw_mask
from kfuzz.claims.kernel import load
from kfuzz.claims.language.roles import roles_of
from kfuzz.measure.roundings.guess_kernel import sizes_in
from kfuzz.oracle.op.structure import read_structure

SIZES = {"n": 9, "slots": 12, "total": 40, "page": 8, "rows": 5}
HOSTILE: dict[str, dict[str, Callable[..., object]]] = {
    "rises 0..total": {
        "the first is empty": lambda row: row[1] == 0 and row[2] > 0,
        "the last is empty": lambda row: row[-2] == row[-1] and row[-3] < row[-1],
        "one in the middle is empty": lambda row: (np.diff(row)[1:-1] == 0).sum() == 1,
        "none is empty": lambda row: (np.diff(row) > 0).all(),
        "the first has everything": lambda row: row[1] == 40,
        "the last has everything": lambda row: row[-2] == 0,
        "all but one have one element": lambda row: (np.diff(row) == 1).sum() == 8,
        "one is as long as a width": lambda row: (np.diff(row) == 16).any(),
    },
    "< rows or -1": {
        "all are absent": lambda row: (row == -1).all(),
        "none is absent": lambda row: (row >= 0).all(),
        "one is absent": lambda row: (row == -1).sum() == 1,
        "all but one are absent": lambda row: (row == -1).sum() == 8,
        "all are the last": lambda row: (row == 4).all(),
        "the same twice": lambda row: len(np.unique(row)) < 4 and row.max() > 0,
    },
    "1..page": {
        "all are full": lambda row: (row == 8).all(),
        "all have one": lambda row: (row == 1).all(),
        "one is full": lambda row: (row == 8).sum() == 1,
        "one has one": lambda row: (row == 1).sum() == 1,
    },
    "distinct < slots": {
        "in order": lambda row: (np.diff(row) == 1).all(),
        "backwards": lambda row: (np.diff(row) == -1).all(),
        "the last slot": lambda row: row.max() == 11,
        "neighbours in another order": lambda row: row[0] == 1 and row[1] == 0,
    },
    "sorted < rows": {"all equal": lambda row: row[0] == row[-1], "first and last": lambda row: row[-1] - row[0] == 4},
}
MASKS: dict[str, Callable[..., object]] = {
    "all": lambda mask: mask.all(),
    "none": lambda mask: not mask.any(),
    "one row alone": lambda mask: mask.all(1).sum() == 1 and (~mask.any(1)).sum() == 5,
    "all rows but one": lambda mask: mask.all(1).sum() == 5 and (~mask.any(1)).sum() == 1,
    "one row none": lambda mask: (~mask.any(1)).sum() == 1 and not mask.all(1).any(),
    "one column": lambda mask: mask.all(0).sum() == 1 and (~mask.any(0)).sum() == 6,
    "a diagonal": lambda mask: (mask[:, :6] == np.eye(6, dtype=bool)).all(),
    "a triangle": lambda mask: (mask == np.tri(6, 7, dtype=bool)).all(),
}


@pytest.mark.parametrize("text", HOSTILE)
def test_every_hostile_value_comes_and_nothing_that_is_forbidden(text: str) -> None:
    structure = read_structure(text, "n")
    assert structure is not None
    count = 10 if text.startswith("rises") else 9
    drawn = [draw_integers(structure, (count,), SIZES, (16, 32), seeded_choices(seed)) for seed in range(300)]
    assert all(structure.has(row, SIZES) for row in drawn)
    assert [what for what, is_so in HOSTILE[text].items() if not any(is_so(row) for row in drawn)] == []


def test_every_hostile_mask_comes() -> None:
    drawn = [draw_mask((6, 7), seeded_choices(seed)) != 0 for seed in range(300)]
    assert [what for what, is_so in MASKS.items() if not any(is_so(mask) for mask in drawn)] == []


def test_rows_of_an_array_are_of_several_kinds() -> None:
    structure = read_structure("1..page", "n")
    assert structure is not None
    drawn = [draw_integers(structure, (4, 2, 9), SIZES, (), seeded_choices(seed)) for seed in range(20)]
    assert all(one.shape == (4, 2, 9) for one in drawn)
    assert any(len(np.unique(one.reshape(8, 9), axis=0)) > 2 for one in drawn)


def test_a_plan_has_the_structure_that_the_op_declares() -> None:
    kernel = load(DATA / "structures" / "paged_decode.cu")
    for seed in range(40):
        case = plan(kernel, seeded_choices(seed), budget=1 << 12).case
        stored = kernel.stored(case.arrays)
        assert all((stored[role] == case.arrays[role]).all() for role in ("first", "last"))
        assert stored["first"][0] == 0
        assert stored["first"][-1] == len(stored["pages"])


def test_a_segment_that_is_cut_out_takes_its_elements_along() -> None:
    kernel = load(DATA / "structures" / "segment_sum.cu")
    x, offsets = np.arange(6, dtype=np.float32)[:, None], np.array([0, 2, 2, 5, 6], np.float32)
    subject = subject_of(kernel, case_of("segment_sum", {"x": x, "offsets": offsets}), {"threads": 32}, False, 0)
    kept = subject.keep("batch", [1, 2]).case.arrays
    assert (kept["x"].ravel().tolist(), kept["offsets"].tolist()) == ([2, 3, 4], [0, 0, 3])
    kept = subject.keep("total", [0, 3, 4, 5]).case.arrays
    assert (kept["x"].ravel().tolist(), kept["offsets"].tolist()) == ([0, 3, 4, 5], [0, 1, 1, 3, 4])
    assert subject.put("offsets", np.zeros(5, np.float32)).arrange_integers().case.arrays["offsets"].tolist()[-1] == 6


def test_a_guess_of_a_claim_takes_a_size_from_one_more() -> None:
    assert sizes_in(roles_of("segment_sum")) == ["total", "cols", "batch"]
    assert sizes_in(roles_of("softmax")) == ["rows", "cols"]
