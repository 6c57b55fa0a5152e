"""`--reference` with a function and its `get_inputs`, whatever Python both are."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from tests.fuzz.claims.references.test_submissions import kinds


@dataclass(frozen=True)
class AnyFunction:
    """A reference, its parameters and inputs, and what a wrong submission has in the place of a piece of its text."""

    name: str
    parameters: str
    text: str
    inputs: str
    right: str
    wrong: str


FUNCTIONS = [
    AnyFunction(
        "a part that only long rows have", "x, first, count", "    return x[:, first:first + count] * 2.0",
        "    return [torch.randn(6, 60), 10, 20]", "* 2.0", "* 2.5",
    ),
    AnyFunction(
        "offsets that a loop makes", "x, ends",
        "    return torch.stack([x[int(a):int(b)].sum(0) for a, b in zip(ends, ends[1:])])",
        "    ends = torch.cat([torch.zeros(1, dtype=torch.int32), torch.randint(1, 4, (3,)).cumsum(0)]).int()\n"
        "    ends = (ends * 12 // ends[-1]).int()\n    return [torch.randn(12, 5), ends]",
        "x[int(a):int(b)]", "x[int(a):max(int(b) - 1, int(a))]",
    ),
    AnyFunction(
        "a segment for each row", "x, y, ends",
        "    assert len(ends) == len(x) + 1\n"
        "    return torch.stack([y[a:b].sum(0) - row for row, a, b in zip(x, ends, ends[1:])])",
        "    return [torch.randn(3, 5), torch.randn(8, 5), torch.tensor([0, 2, 2, 8])]",
        "y[a:b].sum(0)", "y[a:b + 1].sum(0)",
    ),
    AnyFunction(
        "a matrix without an inverse", "x, y", "    return torch.linalg.solve(x, y)",
        "    return [torch.randn(3, 3), torch.randn(3, 2)]", "solve(x, y)", "solve(x, y * 2)",
    ),
    AnyFunction(
        "labels with a mark, truths, and a size that a label needs", "x, labels",
        "    kept = labels != -100\n    at = labels.masked_fill(~kept, 0)\n"
        "    return {'nll': -x.log_softmax(-1).gather(1, at[:, None])[:, 0] * kept, 'kept': kept}",
        "    labels = torch.randint(0, 16, (6,))\n    labels[1] = -100\n    return [torch.randn(6, 16), labels]",
        "log_softmax(-1)", "log_softmax(0)",
    ),
    AnyFunction(
        "codes and their scale", "x",
        "    scale = (x.abs().amax(1) / 127).clamp(min=1e-6)\n"
        "    return (x / scale[:, None]).round().clamp(-127, 127).to(torch.int8), scale.to(torch.bfloat16), None",
        "    return [torch.randn(4, 16)]", ".round()", ".floor()",
    ),
    AnyFunction(
        "integers of 16 bits", "places, ends",
        "    return torch.repeat_interleave(torch.arange(3), (ends[1:] - ends[:-1]).long()).to(places.dtype)",
        "    ends = torch.tensor([0, 2, 3, 6], dtype=torch.int32)\n"
        "    return [torch.randint(0, 9, (6,)).to(torch.int16), ends]",
        "torch.arange(3)", "torch.arange(1, 4)",
    ),
    AnyFunction(
        "unsigned words, half of which are no signed ones", "places",
        "    return (places.to(torch.int64) * 2654435761 % 4294967296).to(torch.uint32)",
        "    return [torch.randint(0, 1000, (4, 8))]", "2654435761", "2654435769",
    ),
    AnyFunction(
        "integers alone, which are changed", "places", "    places += 3",
        "    return [torch.randint(-100, 100, (11,))]", "+= 3", "+= 4",
    ),
    AnyFunction(
        "an input that is changed", "cache, x, places",
        "    cache[places] = cache[places] + x",
        "    return [torch.randn(8, 6), torch.randn(3, 6), torch.randperm(8)[:3]]",
        "cache[places] + x", "cache[places] - x",
    ),
    AnyFunction(
        "bytes, and sizes that it does not take", "x",
        "    assert x.dtype == torch.uint8 and x.shape[1] > 2\n    return (x & 15).float() * 0.5, x >> 4",
        "    return [torch.randint(0, 256, (4, 8), dtype=torch.uint8)]",
        "x & 15", "x & 7",
    ),
    AnyFunction(
        "inputs in containers, a number that is no tensor, and what has no literal", "case, *, kind, act=None, low",
        "    (x, scale), config = case['x'], case['config']\n"
        "    made = act(x * scale * config.weight + config.shift).clamp(min=low)\n"
        "    return {'y': (made / config.shift).to(kind), 'most': made.max().item(), 'kinds': (None, made.shape[0])}",
        "    config = Config(torch.randn(8), 0.5)\n"
        "    case = {'x': [torch.randn(4, 8), torch.tensor(2.0)], 'config': config}\n"
        "    return {'case': case, 'kind': torch.float8_e4m3fn, 'act': torch.nn.functional.silu, 'low': -math.inf}",
        "+ config.shift", "- config.shift",
    ),
    AnyFunction(
        "a named tuple of bfloat16, a function of their own, and None", "pair, mask, act",
        "    assert mask is None and pair.x.dtype == torch.bfloat16\n"
        "    return Pair(act(pair.x) @ pair.w, pair.x.float().sum())",
        "    pair = Pair(torch.randn(4, 16).bfloat16(), torch.randn(16, 3).bfloat16())\n"
        "    return pair, None, lambda x: x * 2", "act(pair.x) @", "pair.x @",
    ),
    AnyFunction(
        "numbers of 8 bits that are handed over as such", "x, w, scale",
        "    assert x.dtype == torch.float8_e5m2 and w.dtype == torch.int8 and not scale.ndim\n"
        "    return x.float() @ w.float() * scale, w // 2",
        "    return [torch.randn(4, 8).to(torch.float8_e5m2), torch.randint(-128, 128, (8, 3), dtype=torch.int8), "
        "torch.tensor(0.25)]", "w // 2", "(w + 1) // 2",
    ),
    AnyFunction(
        "names that are no identifiers, and those of sizes", "case",
        "    x = case['lambda'] + case['1-y']\n"
        "    return {'1_lse': x.logsumexp(-1), 'class': x * 2.0, 'rows': x.sum(0), '0': (x.amax(-1), None)}",
        "    rows, cols = 4, 8\n    return [{'lambda': torch.randn(rows, cols), '1-y': torch.randn(rows, cols)}]",
        "* 2.0", "* 2.5",
    ),
    AnyFunction(
        "arrays of numpy, and a number that has left torch", "x",
        "    y = x.exp()\n    return y.cpu().numpy(), float(y.sum()), [1, 2.5]",
        "    return [torch.rand(4, 6)]", "x.exp()", "x.expm1()",
    ),
    AnyFunction(
        "inputs that keep gradients", "x, w, dy",
        "    torch.tanh(x @ w).backward(dy)\n    return x.grad, w.grad",
        "    w = torch.nn.Parameter(torch.randn(6, 3))\n"
        "    return [torch.randn(4, 6, requires_grad=True), w, torch.randn(4, 3)]",
        "tanh(x @ w)", "sigmoid(x @ w)",
    ),
    AnyFunction(
        "gradients within", "x, dy",
        "    x = x.detach().clone().requires_grad_()\n"
        "    y = torch.nn.functional.rms_norm(x, (x.shape[-1],), eps=1e-6)\n"
        "    (dx,) = torch.autograd.grad(y, x, dy)\n    return y, dx",
        "    return [torch.randn(4, 8), torch.randn(4, 8)]", "eps=1e-6", "eps=1.0",
    ),
    AnyFunction(
        "a size that is a power of two, and its half", "x, w",
        "    half = x.shape[1] // 2\n    assert x.shape[1] & (x.shape[1] - 1) == 0\n"
        "    return torch.cat([x[:, :half] * w, x[:, half:]], 1)",
        "    rows, cols = 6, 16\n    return [torch.randn(rows, cols), torch.randn(cols // 2)]",
        "x[:, half:]]", "x[:, :half]]",
    ),
    AnyFunction(
        "lengths that add up", "x, w, counts",
        "    return torch.cat([part @ one for part, one in zip(x.split(counts.tolist()), w)])",
        "    rows, groups = 12, 3\n    counts = torch.bincount(torch.randint(0, groups, (rows,)), minlength=groups)\n"
        "    return [torch.randn(rows, 4), torch.randn(groups, 4, 5), counts]",
        "zip(x.split(counts.tolist()), w)", "zip(x.split(counts.tolist()), w.flip(0))",
    ),
    AnyFunction(
        "complex numbers", "z, w",
        "    return torch.view_as_real(z * w).sum(-1), z.conj() + w",
        "    rows, cols = 4, 6\n    w = torch.polar(torch.rand(cols), torch.rand(cols))\n"
        "    return [torch.randn(rows, cols, dtype=torch.complex64), w]",
        "z.conj() + w", "z + w",
    ),
    AnyFunction(
        "0-d tensors, NaN, and a size that is divided", "x, scale",
        "    rows = x.shape[0] // 3\n    y = torch.where(x > 0, x, math.nan)[:3 * rows].unflatten(0, (rows, 3))\n"
        "    return torch.nan_to_num(y[:, 0] * scale, nan=-1.0), torch.full_like(scale, math.nan), scale * 2.0",
        "    rows, cols = 9, 4\n    return [torch.randn(rows, cols), torch.tensor(0.5)]", "y[:, 0]", "y[:, 1]",
    ),
    AnyFunction(
        "inputs that are changed and returned", "p, m",
        "    m.mul_(0.5)\n    p.add_(m, alpha=-2.0)\n    return p, m, p.double().sum()",
        "    return [torch.randn(8), torch.randn(8)]", "alpha=-2.0", "alpha=-3.0",
    ),
    AnyFunction(
        "a GPU that is not there, and a generator of inputs", "x, kind=torch.float16, *, device='cuda'",
        "    kept = torch.arange(x.shape[1], device=device) > 1\n    return (x * kept * 2.0).to(kind)",
        "    yield torch.randn(4, 6, device='cuda')", "* 2.0", "* 2.5",
    ),
    AnyFunction(
        "a mask that overflows in float16", "x, mask",
        "    bias = torch.where(mask, 0.0, torch.finfo(torch.float32).min).to(x.dtype)\n"
        "    bias = bias + (1.0 - mask.to(x.dtype)) * -1e30\n"
        "    y = (x + bias) - (x + bias).amax(-1, keepdim=True)\n    return torch.exp(y) * 1.0",
        "    rows, cols = 4, 16\n    mask = torch.rand(rows, cols) < 0.7\n    mask[:, 0] = True\n"
        "    return [torch.randn(rows, cols).half(), mask]",
        "torch.exp(y)", "torch.exp(y + 1.0)",
    ),
    AnyFunction(
        "places that are sorted", "x, at",
        "    assert bool((at.diff() >= 0).all())\n    return torch.zeros(5, x.shape[1]).index_add(0, at, x)",
        "    return [torch.randn(12, 3), torch.randint(0, 5, (12,)).sort().values]", "torch.zeros", "torch.ones",
    ),
    AnyFunction(
        "lengths that are all equal", "x, counts",
        "    assert bool((counts == counts[0]).all())\n"
        "    return x.unflatten(0, (len(counts), -1))[:, :counts[0]].sum(1)",
        "    return [torch.randn(18, 5), torch.full((3,), 4)]", ":counts[0]", ":counts[0] - 1",
    ),
    AnyFunction(
        "rows without elements", "x, counts",
        "    rows = [row[:n].softmax(-1) for row, n in zip(x, counts.tolist())]\n    full = torch.zeros_like(x)\n"
        "    for at, row in zip(full, rows):\n        at[:len(row)] = row\n    return full",
        "    return [torch.randn(3, 6), torch.tensor([2, 0, 6])]", ".softmax(-1)", ".sigmoid()",
    ),
]  # fmt: skip


HEAD = """import math
from collections import namedtuple
from dataclasses import dataclass

import torch

Pair = namedtuple("Pair", "x w")


@dataclass(frozen=True)
class Config:
    weight: torch.Tensor
    shift: float


"""


@pytest.mark.slow(20)
@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
@pytest.mark.parametrize("one", FUNCTIONS, ids=lambda one: one.name)
def test_a_function_is_judged_by_itself(one: AnyFunction, is_right: bool, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = f"{HEAD}def NAME({one.parameters}):\n{one.text}\n"
    problem = f"{text}\n\ndef get_inputs():\n{one.inputs}\n"
    (tmp_path / "problem.py").write_text(problem.replace("NAME", "reference"))
    answer = text if is_right else text.replace(one.right, one.wrong)
    (tmp_path / "answer.py").write_text(answer.replace("NAME", "answer"))
    kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / "problem.py"))
    found, elements = kinds(kernel)
    assert (not found) == is_right, found
    assert elements


def test_an_answer_without_imports_has_the_arrays_of_its_reference(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = "def NAME(x):\n    return x.view(-1, 2).std(1, unbiased=False).clamp_min(0.1)\n"
    inputs = "\n\ndef get_inputs():\n    return [torch.randn(12)]\n"
    (tmp_path / "problem.py").write_text("import torch\n\n\n" + text.replace("NAME", "reference") + inputs)
    (tmp_path / "answer.py").write_text(text.replace("NAME", "answer"))
    kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / "problem.py"))
    found, elements = kinds(kernel)
    assert not found
    assert elements


def test_sizes_of_inputs_on_a_gpu_that_is_not_there_vary(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = "import torch\n\n\ndef NAME(x):\n    return x * 2.0\n"
    inputs = "\n\ndef get_inputs():\n    rows, cols = 4, 6\n    return [torch.randn(rows, cols, device='cuda')]\n"
    (tmp_path / "problem.py").write_text(text.replace("NAME", "reference") + inputs)
    (tmp_path / "answer.py").write_text(text.replace("NAME", "answer"))
    kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=tmp_path / "problem.py"))
    assert {"rows", "cols"} <= kernel.axes.keys()
