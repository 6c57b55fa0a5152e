"""A reference changes nothing for the next one, although processes stay warm."""

from pathlib import Path

import pytest
from verdict_server import WAIT

from kfuzz.campaign.answers import JudgingTerms
from kfuzz.devices.sandbox.box import why_not
from kfuzz.ui.serving.pool import JudgingPool
from kfuzz.ui.serving.requests import JudgingRequest

pytest.importorskip("torch")

PROBLEM = """import torch


class Model(torch.nn.Module):
    def forward(self, x, table):
        out = torch.zeros_like(x)
        for row in range(x.shape[0]):
            out[row] = torch.tanh(x[int(table[row].item())])
        return out


def get_inputs():
    return [torch.rand(6, 8), torch.randint(0, 6, (6,))]


def get_init_inputs():
    return []
"""
"""kfuzz runs it for each case, in a process that stays up, since it goes by values."""
PATCHING = f"{PROBLEM}\n\ntanh = torch.tanh\ntorch.tanh = lambda x: 2 * tanh(x)\n"
RIGHT = """import torch


class ModelNew(torch.nn.Module):
    def forward(self, x, table):
        return x[table.long()].tanh()
"""


@pytest.mark.slow(20)
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")
def test_what_one_reference_patches_does_not_hold_for_the_next(tmp_path: Path) -> None:
    terms = JudgingTerms(budget=2.0)
    for name, text in (("patching", PATCHING), ("usual", PROBLEM)):
        (tmp_path / f"{name}.py").write_text(text)
    with JudgingPool(1) as pool:
        found = [
            pool.submit(JudgingRequest("a.py", RIGHT, "", str(tmp_path / f"{name}.py"), terms)).result(3 * WAIT)
            for name in ("patching", "usual")
        ]
    assert [one.status for one in found] == ["broken", "kept"], found
