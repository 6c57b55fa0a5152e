"""Floats that get_inputs computes, so that their numbers fit others or have a rule."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kfuzz.ui.reports.claims import claim_notes
from tests.fuzz.claims.references.test_drawn_inputs import judged, kernel_of

FREE = [
    "torch.randn(3, 4) * 2, torch.rand(4).half().abs(), torch.zeros(3, 4), torch.empty(5)",
    "torch.randn(4, 5).T.contiguous() / 5**0.5, torch.randn(1, 4).expand(3, 4), torch.randn(3, 8)[:, ::2]",
    "*torch.randn(3, 12).half().chunk(3, -1), *[one.contiguous() for one in torch.randn(3, 12).chunk(3, -1)]",
    "torch.nn.Linear(3, 4).bias, torch.nn.init.xavier_normal_(torch.empty(3, 4)), torch.nn.BatchNorm1d(4).running_var",
    "torch.nn.init.trunc_normal_(torch.empty(3, 4)), torch.nn.init.kaiming_uniform_(torch.empty(3, 4))",
    "torch.stack([torch.randn(4) for _ in range(3)]), torch.cat([torch.randn(4), torch.rand(3)])",
    "torch.randn(3, 4) * torch.rand(4), torch.randn(3, 4), torch.rand(3, 4) > 0.5",
    "x, x, (lambda y: y * y.sigmoid())(torch.randn(3, 4))",
    "torch.randn(3, 4).mul_(0.02).add_(1).clamp_(min=0), torch.randn(3, 4, dtype=torch.complex64)",
    "torch.randn(3, 4) * torch.tensor(3), torch.tensor(0.5), torch.tensor([1.0, 2.0]), torch.randn(3).requires_grad_()",
    "torch.arange(12).float().reshape(3, 4), torch.linspace(0, 1, 5)",
]
BOUND = [
    ("x, (x.float() ** 2).sum(-1)", [1], [0, 1]),
    ("x + 0, x @ x.T, torch.randn(3)", [1], [0, 1]),
    ("x[:, :3] + x[:, :3].T, torch.randn(3)", [0], [0]),
    ("torch.randn(3), x.softmax(-1)", [1], [1]),
    ("torch.randn(3), (x > 0).float()", [1], [1]),
    ("torch.randn(3, 4) * (torch.rand(3, 4) > 0.5), torch.randn(3)", [0], [0]),
    ("x, x.T", [0, 1], [0, 1]),
    ("x, x > 0", [0, 1], [0, 1]),
    ("x.cos(), x.sin()", [0, 1], [0, 1]),
    ("torch.arange(5.0).cos(), torch.arange(5.0), *(one * 2 for one in [torch.linspace(0, 1, 3)] * 2)", [2, 3], [2, 3]),
    ("x[torch.randperm(3)], torch.randn(3)", [0], [0]),
    ("x.triu(), torch.randn(3)", [0], [0]),
    ("torch.randint(0, 2, (3,)).float(), torch.randn(3)", [0], [0]),
    ("torch.nn.functional.pad(x, (0, 4)), torch.randn(3)", [0], [0]),
]

RELIES = {
    "a squared norm": (
        "x, y, norm", "    return torch.cdist(x, y) ** 2", "x = torch.randn(5, 6)\n    y = torch.randn(4, 6)",
        "x, y, (x ** 2).sum(-1)", "    return norm[:, None] - 2 * (x @ y.T) + (y ** 2).sum(-1)",
    ),
    "a logarithm of a sum of powers": (
        "x, lse", "    return x.softmax(-1)", "x = torch.randn(5, 6)", "x, x.logsumexp(-1)",
        "    return (x - lse[:, None]).exp()",
    ),
    "a matrix that is symmetric": (
        "a, b", "    return a @ b", "a = torch.randn(5, 5)", "a @ a.T, torch.randn(5, 4)", "    return a.T @ b",
    ),
    "shares of a softmax": (
        "x, p", "    return -(p * x.log_softmax(-1)).sum(-1)", "x = torch.randn(5, 6)",
        "x, torch.randn(5, 6).softmax(-1)", "    return x.logsumexp(-1) - (p * x).sum(-1)",
    ),
    "a mask of floats": (
        "x, mask", "    return x * mask", "x = torch.randn(5, 6)", "x, (torch.rand(5, 6) > 0.3).float()",
        "    return torch.where(mask > 0.5, x, 0 * x)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("inputs", FREE)
def test_drawn_floats_are_free(inputs: str) -> None:
    assert origins(inputs) == ([], [])


@pytest.mark.parametrize(("inputs", "bound", "kept"), BOUND)
def test_computed_floats_are_bound(inputs: str, bound: Sequence[int], kept: Sequence[int]) -> None:
    assert origins(inputs) == (bound, kept)


def origins(inputs: str) -> tuple[list[object], list[object]]:
    """The inputs whose numbers only get_inputs knows, and those that stay with them."""
    torch = pytest.importorskip("torch")
    from kfuzz.claims.references.torch.origins import origins_of  # noqa: PLC0415  it needs torch

    def make() -> list[object]:
        return list(eval(f"({inputs},)", {"torch": torch, "x": torch.randn(3, 4)}))  # noqa: S307  a text from above

    found = origins_of(make, Path("problem.py"))
    return sorted(key for (key,) in found.bound), sorted(key for (key,) in found.kept)


@pytest.mark.slow(30)
@pytest.mark.parametrize("name", RELIES)
def test_an_answer_may_rely_on_how_floats_fit_together(name: str, tmp_path: Path) -> None:
    """kfuzz drew each of them by itself, and accused the answer."""
    pytest.importorskip("torch")
    parameters, text, makes, inputs, answer = RELIES[name]
    head = f"import torch\n\n\ndef NAME({parameters}):\n"
    found, elements = judged(f"{head}{text}\n", f"    {makes}\n    return [{inputs}]", f"{head}{answer}\n", tmp_path)
    assert not found
    assert elements


@pytest.mark.slow(30)
def test_floats_that_are_drawn_still_have_any_numbers(tmp_path: Path) -> None:
    """The sums of a softmax without its largest element overflow at numbers that get_inputs never makes."""
    pytest.importorskip("torch")
    text = "import torch\n\n\ndef NAME(x, w):\n    return (x * w).softmax(-1)\n"
    wrong = text.replace("(x * w).softmax(-1)", "(x * w).exp() / (x * w).exp().sum(-1, keepdim=True)")
    inputs = "    return [torch.randn(5, 6), torch.rand(6) + 0.5]"
    assert not list(claim_notes(kernel_of(text, inputs, text, tmp_path)))
    found, _ = judged(text, inputs, wrong, tmp_path)
    assert found
