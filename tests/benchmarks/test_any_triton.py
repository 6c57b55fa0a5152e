"""Triton kernels drawn by lot: what a candidate is, the order of a draw, and what is said of a kernel."""

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.detection.any_reference import kept
from benchmarks.detection.any_triton import candidates

KERNELS = """import triton
import triton.language as tl
@triton.jit
def helper(x): return x + x
@triton.jit
def double(y, x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, helper(tl.load(x + i)))
def doubled(x):
    import torch
    y = torch.empty_like(x)
    double[(1,)](y, x, N=x.numel())
    return y
"""
PROBLEM = "import torch\ndef reference(x): return 2 * x\ndef get_inputs(): return [torch.randn(32)]\n"


def test_a_candidate_is_launched(tmp_path: Path) -> None:
    for name in ("a+one", "b+two"):
        folder = tmp_path / name / "repo"
        folder.mkdir(parents=True)
        (folder / "ops.py").write_text(KERNELS)
        git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
            subprocess.run((*git, *words), check=True)
    names = ["a/one", "b/two", "c/not there"]
    first = candidates(names, tmp_path, "D")
    assert first == candidates(names[::-1], tmp_path, "D")
    assert sorted((one["repository"], one["name"]) for one in first) == [("a/one", "double"), ("b/two", "double")]


@pytest.mark.slow(2)
@pytest.mark.parametrize(("mask", "outcome"), [("", "judged"), (" + 1", "accused")])
def test_a_kernel_is_judged_by_the_reference_beside_it(mask: str, outcome: str, tmp_path: Path) -> None:
    pytest.importorskip("triton")
    solution = KERNELS.replace("tl.store(y + i,", f"tl.store(y + i{mask},") + "def solution(x): return doubled(x)\n"
    (tmp_path / "solution.py").write_text(solution)
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "origin.json").write_text(json.dumps({"name": "double"}))
    seen = kept(tmp_path, ("reference", "solution"))
    assert seen["outcome"] == outcome, seen
