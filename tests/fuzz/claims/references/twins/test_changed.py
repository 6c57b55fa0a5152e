"""A planted bug is explained by the line of the reference whose change gives its answer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle.diagnosis.mutated import WrongAnswer

torch = pytest.importorskip("torch")
twins = "kfuzz.claims.references.torch.twins"
as_arrays = pytest.importorskip(f"{twins}.as_arrays")
changed = pytest.importorskip(f"{twins}.changed")
three_runs = pytest.importorskip(f"{twins}.three_runs")
elements = pytest.importorskip("kfuzz.devices.python.torch.elements")
F = torch.nn.functional


def attention(q: Any, k: Any, v: Any) -> Any:  # noqa: ANN401
    scores = q @ k.transpose(-1, -2) * 0.25
    seen = torch.arange(q.shape[-2]).unsqueeze(1) >= torch.arange(k.shape[-2])
    scores = scores.masked_fill(~seen, -torch.inf)
    return torch.softmax(scores, dim=-1) @ v


def wrong_attention(q: Any, k: Any, v: Any, scale: float = 0.25, step: int = 0, axis: int = -1) -> Any:  # noqa: ANN401
    scores = q @ k.transpose(-1, -2) * scale
    seen = torch.arange(q.shape[-2]).unsqueeze(1) >= torch.arange(k.shape[-2]) + step
    scores = scores.masked_fill(~seen, -torch.inf) if step < 2 else scores
    return torch.softmax(scores, dim=axis) @ v


def rms_norm(x: Any, w: Any) -> Any:  # noqa: ANN401
    square = x.pow(2).mean(-1, keepdim=True)
    return x * torch.rsqrt(square + 1e-2) * w


def gated(x: Any, w: Any, b: Any) -> Any:  # noqa: ANN401
    gate, value = F.linear(x, w, b).chunk(2, dim=-1)
    return F.silu(gate) * value


def loss(x: Any, y: Any) -> Any:  # noqa: ANN401
    rows = torch.logsumexp(x, dim=1) - x.gather(1, y.unsqueeze(1)).squeeze(1)
    return rows.mean() + torch.zeros(3)


def normed(x: Any, w: Any, b: Any) -> Any:  # noqa: ANN401
    mean = x.mean(1, keepdim=True)
    centered = x - mean
    var = centered.square().mean(1, keepdim=True)
    return centered / torch.sqrt(var + 1e-3) * w + b


def quantized(x: Any) -> Any:  # noqa: ANN401
    scale = x.abs().amax(-1, keepdim=True) / 127
    return torch.clamp(torch.round(x / scale), -100, 100) * scale


class Block(torch.nn.Module):  # type: ignore[misc]  # torch is not there where types are checked
    """A module, whose calls of torch are in torch's own files."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.conv = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.norm = torch.nn.GroupNorm(2, 4)
        torch.nn.init.normal_(self.norm.weight)

    def forward(self, x: Any) -> Any:  # noqa: ANN401
        x = self.norm(self.conv(x))
        x = F.relu(x)
        return x + 0.5


block = Block()


def scanned(x: Any, m: Any) -> Any:  # noqa: ANN401
    kept = torch.where(m > 0, x, torch.zeros_like(x))
    kept *= 0.5
    return torch.cumsum(kept, dim=1).tril()


def drawn(*shapes: tuple[int, ...]) -> list[Any]:
    torch.manual_seed(1)
    return [torch.randn(shape) for shape in shapes]


QKV, XW = drawn((12, 16), (12, 16), (12, 12)), drawn((4, 4), (4,))
XWB, NORM = drawn((4, 6), (8, 6), (8,)), drawn((4, 4), (4,), (4,))
LABELS = [*drawn((5, 7)), torch.tensor([1, 3, 0, 6, 2])]
IMAGE, ROWS, SCAN = drawn((2, 3, 5, 5)), drawn((4, 9)), drawn((4, 4), (4, 4))
SCAN[1][0, 0] = 0.0
Wrong = Callable[..., Any]


def wrong_block(x: Any, part: str) -> Any:  # noqa: ANN401
    x = F.conv2d(x, block.conv.weight, None if part == "bias" else block.conv.bias, padding=1)
    x = F.group_norm(x, 2, None if part == "weight" else block.norm.weight, block.norm.bias)
    x = x if part == "relu" else F.relu(x)
    return x - 0.5 if part == "sign" else x + 0.5


def wrong_norm(x: Any, w: Any, b: Any, part: str) -> Any:  # noqa: ANN401
    axis = 0 if part == "axis" else 1
    centered = x if part == "mean" else x - x.mean(axis, keepdim=True)
    square = centered.square()
    var = square.sum(1, keepdim=True) if part == "sum" else square.mean(1, keepdim=True)
    eps = 1e-5 if part == "eps" else 0.0 if part == "none" else 1e-3
    made = centered / torch.sqrt(var + eps)
    made = made if part == "weight" else made * w
    return made - b if part == "sign" else made if part == "bias" else made + b


PLANTED: list[tuple[Wrong, list[Any], Wrong, str]] = [
    (attention, QKV, lambda q, k, v: wrong_attention(q, k, v, scale=1.0), "without `* 0.25`"),
    (attention, QKV, lambda q, k, v: wrong_attention(q, k, v, scale=0.0625), "with `* 0.25` twice"),
    (attention, QKV, lambda q, k, v: wrong_attention(q, k, v, step=2), "without masked_fill"),
    (attention, QKV, lambda q, k, v: wrong_attention(q, k, v, axis=0), "along axis 0"),
    (attention, QKV, lambda q, k, v: wrong_attention(q, k, v, step=1), "with `>` for `>=`"),
    (attention, QKV, lambda q, k, v: wrong_attention(q, k.T.T.flip(0), v).flip(0) * 0 + wrong_attention(q, k, v.T),
     "with its second operand transposed"),
    (rms_norm, XW, lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True)) * w, "without `+ 0.01`"),
    (rms_norm, XW, lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-2), "without `* w`"),
    (rms_norm, XW, lambda x, w: x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-2) * w, "with sum for mean"),
    (rms_norm, XW, lambda x, w: x * torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-2) * w, "with sqrt for rsqrt"),
    (rms_norm, XW, lambda x, w: x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + 1e-2) * w, "along axis 0"),
    (gated, XWB, lambda x, w, b: F.silu(F.linear(x, w)[:, :4]) * F.linear(x, w)[:, 4:], "without its bias"),
    (gated, XWB, lambda x, w, b: F.gelu(F.linear(x, w, b)[:, :4]) * F.linear(x, w, b)[:, 4:], "with gelu for silu"),
    (gated, XWB, lambda x, w, b: F.silu(F.linear(x, w, b)[:, :4]), "without `* value`"),
    (loss, LABELS, lambda x, y: (torch.logsumexp(x, 1) - x.gather(1, y[:, None])[:, 0]).sum() + torch.zeros(3),
     "with sum for mean"),
    (loss, LABELS, lambda x, y: torch.logsumexp(x, 1).mean() + torch.zeros(3), "without `- x.gather"),
    (normed, NORM, lambda *given: wrong_norm(*given, "mean"), "without `- mean`"),
    (normed, NORM, lambda *given: wrong_norm(*given, "sum"), "with sum for mean"),
    (normed, NORM, lambda *given: wrong_norm(*given, "sign"), "with `- b` for `+ b`"),
    (normed, NORM, lambda *given: wrong_norm(*given, "bias"), "without `+ b`"),
    (normed, NORM, lambda *given: wrong_norm(*given, "weight"), "without `* w`"),
    (normed, NORM, lambda *given: wrong_norm(*given, "eps"), "with 1e-05 for 0.001"),
    (normed, NORM, lambda *given: wrong_norm(*given, "none"), "without `+ 0.001`"),
    (normed, NORM, lambda *given: wrong_norm(*given, "axis"), "along axis 0"),
    (quantized, ROWS, lambda x: torch.round(x / (s := x.abs().amax(-1, keepdim=True) / 127)) * s, "without clamp"),
    (quantized, ROWS, lambda x: torch.floor(x / (s := x.abs().amax(-1, keepdim=True) / 127)).clamp(-100, 100) * s,
     "with floor for round"),
    (block, IMAGE, lambda x: wrong_block(x, "bias"), "without its bias"),
    (block, IMAGE, lambda x: wrong_block(x, "weight"), "without its weight"),
    (block, IMAGE, lambda x: wrong_block(x, "relu"), "without relu"),
    (block, IMAGE, lambda x: wrong_block(x, "sign"), "with `- 0.5` for `+ 0.5`"),
    (scanned, SCAN, lambda x, m: torch.cumsum(torch.where(m > 0, x, 0), 1).tril(), "without `* 0.5`"),
    (scanned, SCAN, lambda x, m: torch.cumsum(torch.where(m > 0, x, 0) * 0.5, 0).tril(), "along axis 0"),
    (scanned, SCAN, lambda x, m: torch.cumsum(torch.where(m >= 0, x, 0) * 0.5, 1).tril(), "with `>=` for `>`"),
    (scanned, SCAN, lambda x, m: torch.cumsum(torch.where(m > 0, x, 0) * 0.5, 1), "without tril"),
    (scanned, SCAN, lambda x, m: torch.cumsum(torch.where(m > 0, x, 0) * 0.5, 1).tril(-1), "with diagonal=-1"),
]  # fmt: skip


def explained(function: Wrong, given: list[Any], got: Any) -> list[str]:  # noqa: ANN401
    (one,) = as_arrays.reference_sets(three_runs.Answered(function, given, __file__))
    enclosure = one.enclosure(elements.OF_TYPE[torch.float32])
    numbers = as_arrays.in_doubles(got)
    wrong = ~((numbers >= enclosure.lo) & (numbers <= enclosure.hi)) & enclosure.judged
    answer = WrongAnswer(numbers, enclosure.want, enclosure.lo, enclosure.hi, enclosure.judged, wrong)
    return list(changed.Explaining(function, given, __file__).explain(answer))


@pytest.mark.parametrize("row", PLANTED, ids=lambda row: row[-1])
def test_a_planted_bug_is_explained(row: tuple[Wrong, list[Any], Wrong, str]) -> None:
    function, given, wrong, words = row
    found = explained(function, given, wrong(*given))
    assert any(words in one for one in found), found
    assert len(found) <= 3
    assert all(one.startswith("test_changed.py:") for one in found)


@pytest.mark.parametrize("function", [attention, rms_norm, gated, normed, block])
def test_an_answer_of_no_change_is_not_explained(function: Wrong) -> None:
    given = {attention: QKV, rms_norm: XW, gated: XWB, normed: NORM, block: IMAGE}[function]
    right = function(*given).detach()
    for got in (torch.zeros_like(right), right + torch.randn(right.shape), right * 1.01, right.flip(0) * 0.9):
        assert explained(function, given, got) == []


def test_the_right_answer_of_another_reference_is_not_that_of_no_change() -> None:
    """The guard of a reference that draws, or was changed since: its own run has to give what was wanted."""
    x = np.ones((2, 3))
    answer = WrongAnswer(2 * x, 5 * x, 5 * x - 1e-6, 5 * x + 1e-6, x > 0, x > 0)
    assert changed.Explaining(lambda x: x * 2 * 3, [torch.ones(2, 3)], __file__).explain(answer) == []
