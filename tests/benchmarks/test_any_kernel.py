"""Kernels drawn by lot: what a candidate is in each language, the order of a draw, and what is said of a kernel."""

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.detection.any_kernel import candidates
from benchmarks.detection.any_reference import kept

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


CUTE = """import cutlass.cute as cute
class Adder:
    @cute.jit
    def __call__(self, x): self.kernel(x).launch(grid=(1, 1, 1))
    @cute.kernel
    def kernel(self, x): pass
@cute.jit
def device_function(x): pass
"""
TILELANG = """import tilelang.language as T
def make_copy(n):
    @T.prim_func
    def main(): pass
    return main
def helper(n): return n
"""
NUMBA = """from numba import cuda
@cuda.jit(device=True)
def helper(x): return x
@cuda.jit
def never(x): pass
@cuda.jit
def double(x): pass
double[1, 32](x)
"""
WARP = """import warp as wp
@wp.func
def helper(x: float): return x
@wp.kernel
def double(x: wp.array(dtype=float)): pass
wp.launch(kernel=double, dim=3, inputs=[x])
"""


def mirror(folder: Path, text: str) -> None:
    """A copy of a repository with one file."""
    folder.mkdir(parents=True)
    (folder / "ops.py").write_text(text)
    git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
        subprocess.run((*git, *words), check=True)


@pytest.mark.parametrize(
    ("language", "text", "name"),
    [
        ("triton", KERNELS, "double"),
        ("cute", CUTE, "Adder"),
        ("tilelang", TILELANG, "make_copy"),
        ("numba", NUMBA, "double"),
        ("warp", WARP, "double"),
    ],
)
def test_a_candidate_is_a_kernel_that_is_launched(language: str, text: str, name: str, tmp_path: Path) -> None:
    for one in ("a+one", "b+two"):
        mirror(tmp_path / one / "repo", text)
    names = ["a/one", "b/two", "c/not there"]
    first = candidates(language, names, tmp_path, "D")
    assert first == candidates(language, names[::-1], tmp_path, "D")
    assert sorted((one["repository"], one["name"]) for one in first) == [("a/one", name), ("b/two", name)]


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
