"""How many lies are broken at numbers of every size, by formulas and by torch references, and how many right answers.

    python -m benchmarks.detection measure lies

A lie has nothing to do with the input, or is off by 2 %: zeros, NaN, the input, the right answer in another order. It
counts where the right answer is a number, and the lie is none. Right answers are those of float64 and of torch in
float32.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.measurement import Figures, Record
from kfuzz.claims.references.torch.twins.as_arrays import grade_answer, reference_sets
from kfuzz.claims.references.torch.twins.three_runs import Answered
from kfuzz.oracle.judging.judge import judge
from kfuzz.oracle.sets.reference_sets import Grade

Array = NDArray[Any]
F = torch.nn.functional
SIZES = (1e1, 1e3, 1e5, 1e7, 1e10, 1e20, 1e30, 3e38)
ROWS, COLUMNS = 5, 12
MOST = 3.4e38
VISIBLE = 0.01
"""A lie differs from the right answer by more than this part of the largest number of its row."""
WORDS = {Grade.BROKEN: "broken", Grade.SUSPECT: "suspect", Grade.UNJUDGED: "not judged"}


@dataclass(frozen=True)
class LiedAbout:
    """An op, the same as a torch reference, and its inputs by the numbers of a size."""

    name: str
    op: str
    output: str
    reference: Callable[..., torch.Tensor]
    inputs: Callable[[Array], dict[str, Array]]


def with_affine(x: Array) -> dict[str, Array]:
    w, b = (np.linspace(end, 1.5, COLUMNS, dtype=np.float32) for end in (0.5, -1))
    return {"x": x, "w": w, "b": b}


def of_heads(x: Array) -> dict[str, Array]:
    """Scores of the size of the numbers: the queries are the numbers, the keys small whole numbers."""
    draw = np.random.default_rng(3)
    keys = draw.integers(-2, 3, (1, 6, COLUMNS)).astype(np.float32)
    return {"q": x[None], "k": keys, "v": draw.standard_normal((1, 6, COLUMNS)).astype(np.float32)}


def of_values(x: Array) -> dict[str, Array]:
    draw = np.random.default_rng(4)
    q, k = (draw.standard_normal((1, ROWS, COLUMNS)).astype(np.float32) for _ in range(2))
    return {"q": q, "k": k, "v": x[None]}


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) * COLUMNS**-0.5, -1) @ v


OPS = (
    LiedAbout("softmax", "softmax", "y", lambda x: torch.softmax(x, -1), lambda x: {"x": x}),
    LiedAbout("log_softmax", "log_softmax", "y", lambda x: torch.log_softmax(x, -1), lambda x: {"x": x}),
    LiedAbout("logsumexp", "logsumexp", "y", lambda x: torch.logsumexp(x, -1), lambda x: {"x": x}),
    LiedAbout("layer_norm", "layer_norm", "y", lambda x, w, b: F.layer_norm(x, (COLUMNS,), w, b), with_affine),
    LiedAbout(
        "rms_norm", "rms_norm", "y", lambda x, w: F.rms_norm(x, (COLUMNS,), w, 1e-6),
        lambda x: {name: one for name, one in with_affine(x).items() if name != "b"},
    ),
    LiedAbout("attention, scores", "attention", "o", attention, of_heads),
    LiedAbout("attention, values", "attention", "o", attention, of_values),
    LiedAbout(
        "cross_entropy", "cross_entropy", "loss",
        lambda x, labels: F.cross_entropy(x, labels.long(), reduction="none"),
        lambda x: {"x": x, "labels": np.arange(len(x), dtype=np.int32) % x.shape[1]},
    ),
)  # fmt: skip


def drawn(size: float) -> Iterator[tuple[str, Array]]:
    """Numbers of a size: of both signs, all equal, two equal ones above all others, and neighbours of one number."""
    draw = np.random.default_rng(1)
    signed = draw.uniform(-size, size, (ROWS, COLUMNS))
    yield "of both signs", signed
    yield "equal", np.full((ROWS, COLUMNS), size)
    two = -np.abs(signed)
    two[:, 1:3] = size
    yield "two above", two
    yield "near", size * (1 + draw.integers(-9, 1, (ROWS, COLUMNS)) * 2.0**-22)


def lies_about(right: Array, first: Array) -> Iterator[tuple[str, Array]]:
    """Wrong answers, in the shape of the right one."""
    yield "zeros", np.zeros_like(right)
    yield "NaN", np.full_like(right, np.nan)
    yield "infinity", np.full_like(right, np.inf)
    if first.shape[-right.ndim :] == right.shape[-first.ndim :] or first.size == right.size:
        yield "the input", first.reshape(right.shape)
    yield "its order", np.roll(right, 1, -1)
    yield "times 1.02", right * 1.02
    yield "its negative", -right
    yield "plus the largest", right + np.abs(right).max()


def is_lie(answer: Array, right: Array) -> bool:
    """Whether an answer differs visibly from the right one, which is finite where it does."""
    if not np.isfinite(right).all():
        return False
    size = np.abs(right).max(axis=-1, keepdims=True)
    return bool(np.any(~(np.abs(answer - right) <= VISIBLE * size)))


def by_formula(one: LiedAbout, given: Mapping[str, Array], answer: Array) -> str:
    scalars = {"scale": COLUMNS**-0.5} if one.op == "attention" else {}
    verdict = judge(one.op, dict(given), {one.output: answer}, scalars=scalars)
    return str(verdict.status)


def by_reference(sets: Sequence[Any], answer: Array) -> str:
    made = grade_answer(sets, [torch.from_numpy(answer)])
    assert not isinstance(made, str), made
    return next((word for grade, word in WORDS.items() if (made[0] == grade).any()), "kept")


def about(one: LiedAbout, size: float) -> Iterator[tuple[str, str, str, Mapping[str, str]]]:
    """Each answer at a size: whether it is a lie, what it is, to which numbers, and its verdicts."""
    for pattern, numbers in drawn(size):
        given = one.inputs(np.clip(numbers, -MOST, MOST).astype(np.float32))
        tensors = [torch.from_numpy(part) for part in given.values()]
        wide = [part.double() if part.is_floating_point() else part for part in tensors]
        with np.errstate(all="ignore"):
            right = one.reference(*wide).numpy().astype(np.float32)
            sets = reference_sets(Answered(one.reference, tensors, __file__))
            answers = [("right", "float64", right), ("right", "torch", one.reference(*tensors).numpy())]
            lies = lies_about(right, next(iter(given.values())))
            answers += [("lie", name, lie) for name, lie in lies if is_lie(lie, right)]
            for kind, name, made in answers:
                answer = np.ascontiguousarray(made, dtype=np.float32)
                verdicts = {"formula": by_formula(one, given, answer), "reference": by_reference(sets, answer)}
                yield kind, name, pattern, verdicts


def of_op(one: LiedAbout, size: float) -> Iterator[Record]:
    """The verdicts on lies and on right answers at a size, counted."""
    counts = Counter((kind, way, word) for kind, _, _, found in about(one, size) for way, word in found.items())
    for way in ("formula", "reference"):
        words = ("broken", "suspect", "kept", "not judged")
        lies, right = ({word: counts[kind, way, word] for word in words} for kind in ("lie", "right"))
        yield {"op": one.name, "size": size, "way": way, "lies": lies, "right": right}


def measure(arguments: Sequence[str]) -> Figures:
    """Judge them all."""
    torch.set_num_threads(1)
    found = [row for one in OPS if one.name in arguments or not arguments for size in SIZES for row in of_op(one, size)]
    return Figures(tables={"verdicts": found})
