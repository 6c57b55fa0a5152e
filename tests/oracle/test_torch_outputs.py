"""torch's answers on an H200 to rows at the edges of each format, judged by claims that say hardly anything.

Kernels that nobody here wrote: an answer that is right must be kept. benchmarks/tightness/torch_outputs.py made them.
"""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from paths import DATA
from torch_rows import inputs

from kfuzz.oracle import Accuracy, Special, judge
from kfuzz.oracle.accuracy.rounding import FAST_EXP2_SCALED
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.verdict import Verdict

DOCUMENT = json.loads((DATA / "torch_outputs.json").read_text(encoding="utf-8"))
ANSWERS: dict[str, Any] = DOCUMENT["answers"]
CLAIMED = Special(nan="ieee", pos_inf="ieee")
TYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<u2"}
FLASH = {
    kind: Accuracy(exp=FAST_EXP2_SCALED, accumulate="mma", keep={"e": kind}, ftz=True, divide="fast reciprocal")
    for kind in ("f16", "bf16")
}
"""FlashAttention: exps in base 2, by an approximation, kept as narrow as the values that they weigh."""


NARROW_STEPS = ("x - m", "e", "s", "log s")


def claim(name: str) -> Accuracy:
    """What torch's source says of this way."""
    op, kind, *way = name.split()
    if op == "prefix_sum" and kind != "f32":
        return Accuracy(accumulate=kind)  # cumsum holds its running sum in the tensor's own type
    if op == "logsumexp" and kind != "f32":
        return Accuracy(keep=dict.fromkeys(NARROW_STEPS, kind))  # operations on tensors, one after the other
    if way in (["flash"], ["efficient"]) and kind != "f32":
        return FLASH[kind]
    return Accuracy(exp=FAST_EXP2_SCALED, accumulate="mma", operand="tf32") if way == ["efficient"] else Accuracy()


def answers(name: str) -> dict[str, NDArray[Any]]:
    """The arrays of one answer, by role."""
    op, kind, *_ = name.split()
    given, module, reported = inputs(op, kind), find(op), ANSWERS[name]
    found = {}
    for role, text in zip(module.outputs, [reported] if isinstance(reported, str) else reported, strict=True):
        kept = TYPES[kind] if module.outputs[role].is_float else "<i4"
        flat = np.frombuffer(bytes.fromhex(text), kept)
        rows = given["q"].shape[:2] if "q" in given else given["x"].shape[:1]
        found[role] = (
            flat.reshape(*rows, -1) if len(module.outputs[role].dimensions) > len(rows) else flat.reshape(rows)
        )
    return found


def judge_output(name: str, got: dict[str, NDArray[Any]]) -> Verdict:
    op, kind, *_ = name.split()
    return judge(op, inputs(op, kind), got, claim(name), CLAIMED)


@pytest.mark.parametrize("name", ANSWERS)
def test_what_torch_answers_is_kept(name: str) -> None:
    verdict = judge_output(name, answers(name)).check()
    assert verdict.judged > 0.7 * sum(array.size for array in answers(name).values())


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_moved_by_one_place_is_broken(name: str) -> None:
    moved = {role: np.roll(array, 1, axis=-1 if array.ndim > 1 else 0) for role, array in answers(name).items()}
    assert judge_output(name, moved).status == "broken"


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("op", ["prefix_sum", "logsumexp"])
def test_steps_that_torch_keeps_in_16_bits_have_to_be_claimed(op: str, kind: str) -> None:
    got = answers(f"{op} {kind}")
    assert judge(op, inputs(op, kind), got, Accuracy(), CLAIMED).status == "broken"
