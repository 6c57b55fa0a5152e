"""Right answers in other ways: none is accused, and one that drops a term is."""

import pytest

torch = pytest.importorskip("torch")

from benchmarks.tightness import other_ways  # noqa: E402  torch may not be there


class Model(torch.nn.Module):  # type: ignore[misc]  # torch is not there where types are checked
    """A layer, a norm and a softmax."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.layer, self.norm = torch.nn.Linear(12, 10), torch.nn.LayerNorm(10)

    def forward(self, x: "torch.Tensor") -> "torch.Tensor":
        return torch.softmax(self.norm(self.layer(x)), -1) + x.mean(-1, keepdim=True)


def test_no_right_way_is_accused() -> None:
    found = list(other_ways.compare(Model(), [torch.randn(3, 12)], ""))
    assert len(found) >= len(("own", "decomposed", "another order", "wide")) * (1 + len(other_ways.NARROW))
    assert [one for one in found if any(one[1:])] == []


def test_a_way_that_drops_a_term_is_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    add_up = other_ways.OtherWay.add_up
    monkeypatch.setattr(other_ways.OtherWay, "add_up", lambda self, x, *rest: add_up(self, x[..., 1:], *rest))
    found = {way: counts for way, *counts in other_ways.compare(Model(), [torch.randn(3, 12)], "")}
    assert "another order torch.float32" in {way for way, (broken, _) in found.items() if broken}
