"""References whose inputs are as get_inputs makes them, under another seed in each trial.

Long, since each cause has an example of its own, with a wrong submission beside it.
"""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import GIVEN, names_together, value_with
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.ui.reports.claims import claim_notes
from tests.fuzz.claims.references.test_any_function import AnyFunction
from tests.fuzz.claims.references.test_submissions import kinds

HEAD = """import dataclasses
import enum
import functools
import random
from collections import namedtuple

import numpy as np
import torch

Window = namedtuple("Window", "left right")
WEIGHTS, TABLE = torch.randn(8, 3), torch.from_numpy(np.random.rand(6, 8)).float()
LEVELS = torch.tensor([-1.0, -0.25, 0.25, 1.0])


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


@dataclasses.dataclass
class Cache:
    keys: torch.Tensor
    table: torch.Tensor
    side: Side
    window: Window


"""

DRAWN = [
    AnyFunction(
        "numbers alone", "count, base",
        "    return base ** torch.linspace(0, 1, count)",
        "    return [300, 10.0]",
        "0, 1, count", "0, 2, count",
    ),
    AnyFunction(
        "a number of rows that differs at each call", "x, starts",
        "    ends = torch.cat([starts[1:], torch.tensor([len(x)])])\n"
        "    out = torch.zeros(12, x.shape[1])\n"
        "    for at, (a, b) in enumerate(zip(starts.tolist(), ends.tolist())):\n"
        "        out[at] = x[a:b].sum(0)\n    return out",
        "    cuts = torch.unique(torch.randint(1, 30, (9,)))\n"
        "    return [torch.randn(30, 5), torch.cat([torch.zeros(1, dtype=torch.int64), cuts])]",
        "x[a:b]", "x[a:max(b - 1, a + 1)]",
    ),
    AnyFunction(
        "floats whose number differs at each call", "x, at",
        "    return torch.zeros(8, 3).index_add(0, at, x)",
        "    n = int(torch.randint(4, 30, ()))\n"
        "    return [torch.randn(n, 3), torch.randint(0, 8, (n,)).sort().values]",
        "torch.zeros(8, 3)", "torch.ones(8, 3)",
    ),
    AnyFunction(
        "a module of one size", "x, norm, scale",
        "    return norm(x) * scale",
        "    return [torch.randn(4, 24), torch.nn.LayerNorm(24, eps=0.1), 0.5]", "norm(x)", "norm(2 * x)",
    ),
    AnyFunction(
        "lengths in groups that the reference checks", "x, w, counts",
        "    assert int(counts.sum()) == len(x)\n"
        "    return torch.cat([part @ one for part, one in zip(x.split(counts.tolist()), w)])",
        "    counts = [5, 9, 2, 8]\n"
        "    return [torch.randn(sum(counts), 16).half(), torch.randn(4, 16, 6).half(), torch.tensor(counts).int()]",
        "part @ one", "part @ one.abs()",
    ),
    AnyFunction(
        "a paged cache with lengths and a table", "q, cache, lengths, *, scale",
        "    made = []\n    for row, (n, blocks) in zip(q, zip(lengths.tolist(), cache.table)):\n"
        "        size = cache.keys.shape[1]\n        kept = blocks[:(n + size - 1) // size].long()\n"
        "        keys = cache.keys[kept].flatten(0, 1)[:n]\n"
        "        keys = keys[-cache.window.left:] if cache.side is Side.LEFT else keys\n"
        "        made.append((row @ keys.T * scale).softmax(-1) @ keys)\n    return torch.stack(made)",
        "    random.seed(int(torch.randint(99, ())))\n    lengths = [random.randint(1, 30) for _ in range(3)]\n"
        "    most = -(-max(lengths) // 4)\n    table = torch.randperm(3 * most).reshape(3, most).int()\n"
        "    table[torch.arange(most) >= (torch.tensor(lengths)[:, None] + 3) // 4] = 1 << 30\n"
        "    cache = Cache(torch.randn(3 * most, 4, 8), table, Side.LEFT, Window(7, 0))\n"
        "    return {'q': torch.randn(3, 8), 'cache': cache, 'lengths': torch.tensor(lengths), 'scale': 0.125}",
        "* scale", "* scale * 2",
    ),
    AnyFunction(
        "a work list with a field in each column", "x, work",
        "    out = torch.empty(6, 4)\n    for row, a, b, flag in work.tolist():\n"
        "        out[row] = x[a:b].sum(0) * (2 if flag else 1)\n    return out",
        "    ends = torch.randint(1, 7, (4,)).cumsum(0)\n    starts = torch.cat([torch.zeros(1).long(), ends[:-1]])\n"
        "    rows = torch.randperm(6)[:4]\n"
        "    return [torch.randn(40, 4), torch.stack([rows, 8 + starts, 8 + ends, starts % 2], 1).int()]",
        "if flag", "if not flag",
    ),
    AnyFunction(
        "gradients behind lengths", "x, w, dy, lengths",
        "    y = torch.relu(x * w)\n    y.backward(dy)\n"
        "    y = torch.where(torch.arange(y.shape[1]) < lengths[:, None], y, -1.0)\n    return y, x.grad, w.grad",
        "    lengths = torch.randint(2, 7, (3,))\n    lengths[int(torch.randint(0, 3, ()))] = 6\n"
        "    dy = torch.randn(3, 6)\n    dy[torch.arange(6) >= lengths[:, None]] = 0\n"
        "    x, w = torch.randn(3, 6, requires_grad=True), torch.randn(3, 6, requires_grad=True)\n"
        "    return [x, w, dy, lengths]",
        "relu(x * w)", "relu(x * w * w)",
    ),
    AnyFunction(
        "codes and scales that are written into arrays", "x, codes, scales, places",
        "    most = x.abs().amax(-1).clamp(min=1e-4)\n    scales[places] = most / 127\n"
        "    codes[places] = (x * (127 / most)[:, None]).round().to(torch.int8)",
        "    places = torch.tensor(sorted(random.sample(range(9), 4)))\n"
        "    return [torch.randn(4, 8), torch.zeros(9, 8, dtype=torch.int8), torch.zeros(9), places]",
        "most / 127", "most / 128",
    ),
    AnyFunction(
        "lists of tensors of several lengths, some empty", "parts, weights",
        "    assert [len(one) for one in parts] == [len(one) for one in weights]\n"
        "    return [(one * by[:, None]).sum(0) for one, by in zip(parts, weights)]",
        "    counts = [3, 0, random.randint(1, 5), 2]\n"
        "    return [[torch.randn(n, 4) for n in counts], tuple(torch.rand(n) for n in counts)]",
        ".sum(0)", ".cumsum(0).sum(0)",
    ),
    AnyFunction(
        "weights of 4 bits in bytes, with zeros and scales in groups", "x, packed, scales, zeros, group, kind",
        "    codes = torch.stack([packed & 15, packed >> 4], -1).flatten(1).to(kind)\n"
        "    w = (codes.unflatten(1, (-1, group)) - zeros[:, :, None]) * scales[:, :, None]\n"
        "    assert int(packed.max()) < 256 and bool((scales > 0).all())\n    return x @ w.flatten(1).T",
        "    w = torch.randn(6, 4, 8)\n    low, high = w.amin(-1), w.amax(-1)\n    scales = (high - low) / 15\n"
        "    codes = ((w - low[..., None]) / scales[..., None]).round().to(torch.uint8).flatten(1)\n"
        "    packed = codes[:, ::2] | codes[:, 1::2] << 4\n"
        "    return [torch.randn(3, 32), packed, scales, (-low / scales).round(), 8, torch.float32]",
        "packed & 15, packed >> 4", "packed >> 4, packed & 15",
    ),
    AnyFunction(
        "sparse rows as three arrays", "ptr, cols, values, x, mode='sum'",
        "    assert mode in ('sum', 'mean') and len(cols) == int(ptr[-1]) == len(values)\n"
        "    rows = [values[a:b] @ x[cols[a:b]] for a, b in zip(ptr.tolist(), ptr[1:].tolist())]\n"
        "    return torch.stack(rows)",
        "    kept = torch.rand(5, 7) < 0.5\n    kept[0] = True\n"
        "    ptr = torch.cat([torch.zeros(1).long(), kept.sum(1).cumsum(0)])\n"
        "    return [ptr, kept.nonzero()[:, 1], torch.randn(int(ptr[-1])), torch.randn(7, 3), 'sum']",
        "values[a:b] @", "values[a:b].abs() @",
    ),
    AnyFunction(
        "shares, their logarithms and a step that is no axis", "p, q, step, eps=1e-6, *, mask=None",
        "    assert bool((p >= 0).all()) and step.ndim == 0 and step > 0\n"
        "    terms = p * (torch.log(p + eps) - q) / step\n"
        "    return (terms if mask is None else terms * mask).sum(-1)",
        "    step = torch.tensor(random.randint(1, 3))\n"
        "    return [torch.rand(4, 9).softmax(-1), torch.randn(4, 9).log_softmax(-1), step]",
        "- q", "- 2 * q",
    ),
    AnyFunction(
        "truths of truths, with bands that lengths give", "lengths, causal, window",
        "    n = int(lengths.max())\n    rows, cols = torch.arange(6)[:, None], torch.arange(8)\n"
        "    kept = (cols < lengths[:, None, None]) & (rows - cols < window.left)\n"
        "    return kept & (cols <= rows) if causal else kept",
        "    lengths = torch.randint(1, 9, (3,))\n    lengths[0] = 8\n    return lengths, True, Window(3, 0)",
        "cols <= rows", "cols < rows",
    ),
    AnyFunction(
        "levels of the file, places that cover an axis, and closures", "codes, order, act",
        "    table = {name: LEVELS * 2**name for name in range(3)}\n"
        "    def row(one, at):\n        return act(table[at % 3][one])\n"
        "    assert sorted(order.tolist()) == list(range(len(order)))\n"
        "    return torch.stack([row(one, int(at)) for one, at in zip(codes[order], order)])",
        "    scale = 3.0\n    codes = torch.randint(0, 4, (random.randint(5, 5), 6))\n"
        "    return [codes, torch.randperm(5), lambda x: x * scale]", "at % 3", "(at + 1) % 3",
    ),
    AnyFunction(
        "bytes of 8-bit floats with a scale for each block", "x, scales, shape",
        "    wide = x.view(torch.float8_e4m3fn).float().reshape(shape)\n"
        "    assert bool((scales > 0).all())\n"
        "    return (wide.unflatten(-1, (-1, 8)) * scales[..., None]).flatten(-2)",
        "    x = torch.randn(4, 2, 8)\n    scales = x.abs().amax(-1) / 448\n"
        "    codes = (x / scales[..., None]).to(torch.float8_e4m3fn).view(torch.uint8)\n"
        "    return [codes.flatten(), scales, [4, 16]]", "* scales", "/ scales",
    ),
    AnyFunction(
        "a table that the file draws when it is imported", "x, lengths",
        "    assert int(lengths.sum()) == len(x)\n    return x @ WEIGHTS",
        "    n = random.randint(2, 9)\n    return [torch.cat([TABLE[:4]] * n), torch.full((n,), 4)]",
        "@ WEIGHTS", "@ WEIGHTS.abs()",
    ),
    AnyFunction(
        "numbers of numpy and of Python's own chance", "x, picks, weights",
        "    return sum(weight * x[pick] for pick, weight in zip(picks, weights)).cumsum(-1)",
        "    picks = [int(one) for one in np.random.choice(6, 3, replace=False)]\n"
        "    return [torch.randn(6, 10), picks, [random.uniform(0.5, 2.0) for _ in picks]]",
        ".cumsum(-1)", ".cumsum(-1).roll(1, -1)",
    ),
    AnyFunction(
        "an output whose size differs at each call", "x, lengths, out",
        "    at = 0\n    for row, n in zip(x, lengths.tolist()):\n"
        "        out[at : at + n] = row[:n]\n        at += n",
        "    lengths = torch.randint(1, 9, (5,))\n"
        "    return [torch.randn(5, 8), lengths, torch.zeros(int(lengths.sum()))]",
        "row[:n]", "row[:n] * (row[:n] > 0)",
    ),
    AnyFunction(
        "an object that holds random numbers", "x, one", "    return x * one.scale",
        "    import types\n    return [torch.randn(4, 6), types.SimpleNamespace(scale=torch.rand(4, 1))]",
        "x * one.scale", "x + one.scale",
    ),
    AnyFunction(
        "arrays of numpy and no tensor", "x, by", "    return (torch.from_numpy(x).cumsum(-1) * by).numpy()",
        "    return [np.random.randn(4, 9).astype('float32'), 2]",
        "cumsum(-1)", "cumsum(0)",
    ),
]  # fmt: skip

WRAPPED = {
    "an operation of its own": "torch.library.custom_op('kfuzz_test::NAME', mutates_args=())",
    "a partial function": "lambda made: functools.partial(made, by=0.5)",
    "an object that is called": "lambda made: type('Own', (), {'__call__': lambda self, *given: made(*given)})()",
    "a function of any arguments": "lambda made: lambda *given, **named: made(*given, **named)",
    "an operation on functions": "lambda made: lambda x, n, by=0.5: torch.cond("
    "torch.tensor(n > 3), lambda x: made(x, n, by), lambda x: x * 0, (x,))",
}


@pytest.mark.slow(20)
@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
@pytest.mark.parametrize("one", DRAWN, ids=lambda one: one.name)
def test_inputs_of_get_inputs_are_judged(one: AnyFunction, is_right: bool, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = f"{HEAD}def NAME({one.parameters}):\n{one.text}\n"
    answer = text if is_right else text.replace(one.right, one.wrong)
    found, elements = judged(text, one.inputs, answer, tmp_path)
    assert (not found) == is_right, found
    assert elements


@pytest.mark.slow(20)
@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
@pytest.mark.parametrize("wrapper", WRAPPED.values(), ids=WRAPPED)
def test_a_reference_in_a_wrapper_is_judged(wrapper: str, is_right: bool, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    plain = (
        "def own(x: torch.Tensor, n: int, by: float = 0.5) -> torch.Tensor:\n"
        "    return torch.cumsum(x[:, :n] * by, -1) + 0.0\n"
    )
    text = f"{HEAD}{plain}\n\nNAME = ({wrapper})(own)\n"
    answer = text if is_right else text.replace("* by", "+ by")
    found, elements = judged(text, "    return [torch.randn(4, 6), 5]", answer, tmp_path)
    assert (not found) == is_right, found
    assert elements


def judged(text: str, inputs: str, answer: str, folder: Path) -> tuple[set[str], int]:
    """What is found of an answer by a reference, and how many elements are judged."""
    return kinds(kernel_of(text, inputs, answer, folder))


def kernel_of(text: str, inputs: str, answer: str, folder: Path) -> Kernel:
    """An answer, with its reference."""
    problem = f"{text}\n\ndef get_inputs():\n{inputs}\n"
    (folder / "problem.py").write_text(problem.replace("NAME", "reference"))
    (folder / "answer.py").write_text(answer.replace("NAME", "answer"))
    wanted = Unclaimed(op="reference", said=FunctionWords(entry="answer"), reference=folder / "problem.py")
    return kernel_with(folder / "answer.py", wanted)


@pytest.mark.slow(20)
def test_rows_of_a_fixed_size_count_one_by_one(tmp_path: Path) -> None:
    """Six rows, one of which is not judged, were one row that is not."""
    pytest.importorskip("torch")
    text = (
        f"{HEAD}def NAME(x, lengths):\n    out = torch.empty(6, 4)\n"
        "    for row, n in enumerate(lengths.tolist()):\n        out[row] = x[:n].sum(0)\n    return out\n"
    )
    kernel = kernel_of(text, "    return [torch.randn(9, 4), torch.randint(1, 10, (5,))]", text, tmp_path)
    tried = attempt_of(kernel, 3, 0, 1 << 10)
    with closing(PythonDevice()) as device:
        trial = run_trial(kernel, tried.case, tried.tune, device, probe_of(kernel, 3, 0, 2, 10.0))
    assert (trial.defects, trial.rows, trial.unjudged_rows) == ((), 6, 1)


@pytest.mark.slow(20)
@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
def test_an_object_that_a_call_changes_is_another_one_in_each(is_right: bool, tmp_path: Path) -> None:
    """Its tensors had no numbers, and each call would have appended to what the one before left."""
    pytest.importorskip("torch")
    text = (
        f"{HEAD}class Rows:\n    def __init__(self, x):\n        self.x, self.n = x, 2\n\n"
        "    def append(self, row):\n        self.x[self.n], self.n = row, self.n + 1\n"
        "        return self.x[: self.n]\n\n\n"
        "def NAME(rows, row):\n    return rows.append(row).cumsum(0)\n"
    )
    answer = text if is_right else text.replace("cumsum(0)", "cumsum(1)")
    found, elements = judged(text, "    return [Rows(torch.randn(5, 4)), torch.randn(4)]", answer, tmp_path)
    assert (not found) == is_right, found
    assert elements


def test_inputs_that_nothing_repeats_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = "import os\nimport torch\n\n\ndef NAME(x, n):\n    assert n == len(x)\n    return x * n\n"
    with pytest.raises(Exception, match="other inputs when it is called again"):
        judged(text, "    n = 3 + os.urandom(1)[0]\n    return [torch.randn(n), torch.tensor(n)]", text, tmp_path)


def test_the_report_says_what_does_not_vary(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    one = next(one for one in DRAWN if one.name == "a work list with a field in each column")
    text = f"{HEAD}def NAME({one.parameters}):\n{one.text}\n"
    (tmp_path / "problem.py").write_text(f"{text}\n\ndef get_inputs():\n{one.inputs}\n".replace("NAME", "reference"))
    (tmp_path / "answer.py").write_text(text.replace("NAME", "answer"))
    kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / "problem.py"))
    (note,) = claim_notes(kernel)
    assert "those of get_inputs, under another seed in each trial: " in note
    assert note.endswith("what the integers of work may be is known to get_inputs alone")


def test_an_argument_is_an_array_or_a_part_of_what_is_made() -> None:
    text = "x if draw % 2 else inputs(draw)[0].keys['a']"
    assert set(names_together(text)) == {"x", "draw"}
    given = {"x": "array", GIVEN: lambda draw: [type("Made", (), {"keys": {"a": f"made under {draw}"}})]}
    assert value_with(text, {**given, "draw": 3}) == "array"
    assert value_with(text, {**given, "draw": 4}) == "made under 4"
    assert not names_together("x if other(draw) else y")


def test_an_array_may_have_the_name_of_what_makes_inputs() -> None:
    """A right kernel was called with a function: `AttributeError: 'functools._lru_cache_wrapper' has no dtype`."""
    given = {"inputs": "array", GIVEN: lambda draw: [f"made under {draw}"]}
    text = "inputs if draw % 2 else inputs(draw)[0]"
    assert set(names_together(text)) == {"inputs", "draw"}
    assert [value_with(text, {**given, "draw": draw}) for draw in (1, 2)] == ["array", "made under 2"]


def test_numbers_that_a_reference_takes_now_and_then_are_not_drawn() -> None:
    """Slopes of a decay, which are positive: normal numbers left exp(-s n) finite under every other seed, and then -3e4
    was drawn, for which a right kernel gave NaN.
    """
    torch = pytest.importorskip("torch")
    numbers = pytest.importorskip("kfuzz.claims.references.torch.other_numbers")
    data = [torch.randn(2, 150), torch.tensor([[2.0**-4], [2.0**-8]])]

    def decayed(x: Any, s: Any) -> Any:  # noqa: ANN401  tensors
        return x * torch.exp(-s * torch.arange(150))

    torch.manual_seed(3)
    taken = [numbers.does_take_normal_numbers([(1,)], lambda _: list(data), decayed, [True]) for _ in range(50)]
    assert sum(taken) < 5
    assert numbers.does_take_normal_numbers([(0,)], lambda _: list(data), decayed, [True])
