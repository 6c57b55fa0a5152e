"""Triton kernels drawn by lot: what a candidate is, the order of a draw, and what is said of a kernel."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.detection.any_triton import candidates, run_test

KERNELS = """import triton
import triton.language as tl
@triton.jit
def helper(x): return x + 1
@triton.jit
def double(y, x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, helper(tl.load(x + i)) * 2 - 2)
@triton.jit
def unreached(y): tl.store(y, 1)
def doubled(x):
    import torch
    y = torch.empty_like(x)
    double[(1,)](y, x, N=x.numel())
    return y
def other(y): unreached[(1,)](y)
"""
TESTS = """import pytest, torch
from ops import doubled
@pytest.mark.parametrize("n", [1 << 16, 32, 16])
def test_doubled(n):
    x = torch.arange(n, device="cuda", dtype=torch.float32)
    assert torch.equal(doubled(x), 2 * x)
"""


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    for name in ("a+one", "b+two"):
        folder = tmp_path / name / "repo"
        folder.mkdir(parents=True)
        (folder / "ops.py").write_text(KERNELS)
        (folder / "test_ops.py").write_text(TESTS)
        git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
            subprocess.run((*git, *words), check=True)
    return tmp_path


def test_a_candidate_is_launched_and_reached_by_a_test(mirrors: Path) -> None:
    names = ["a/one", "b/two", "c/not there"]
    first = candidates(names, mirrors, "D")
    assert first == candidates(names[::-1], mirrors, "D")
    assert sorted((one["repository"], one["kernel"], one["tests"]) for one in first) == [
        (name, "double", [["test_ops.py", "test_doubled"]]) for name in ("a/one", "b/two")
    ]


@pytest.mark.slow(2)
@pytest.mark.parametrize(("mask", "kinds"), [("", set[str]()), (" + 1", {"out-of-bounds"})])
def test_a_kernel_runs_in_the_two_smallest_cases_of_its_test(mask: str, kinds: set[str], mirrors: Path) -> None:
    pytest.importorskip("triton")
    root = mirrors / "a+one" / "repo"
    (root / "ops.py").write_text(KERNELS.replace("tl.store(y + i,", f"tl.store(y + i{mask},"))
    seen = run_test(root, "test_ops.py", "test_doubled", "double", 300.0)
    assert (seen["outcome"], seen["launches"]) == ("run", 2)
    assert {one.split()[1] for one in seen["findings"]} == kinds
