"""Claims of ops whose outputs have sizes of their own: read, checked, planned, kept and made smaller."""

from pathlib import Path

import numpy as np
import pytest

from kfuzz.cases import case_file
from kfuzz.cases.case import Record, case_of
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices import ClaimError
from kfuzz.minimizing.subject import subject_of
from kfuzz.search.choose import seeded_choices
from kfuzz.search.plan import plan

OP = '''"""y[i] is the sum of three neighbours from place i * stride - pad on."""
INPUTS = {"x": "float[rows, n]"}
AXES = {"k": 3, "stride": 1, "pad": 0}
OUTPUTS = {"y": "float[rows, (n + 2 * pad - k) // stride + 1]"}
WHERE = ("n + 2 * pad >= k",)
def formula(N, x):
    return N.sum(N.windows(x, N.size("k"), N.size("stride"), N.size("pad")), "window")
'''
KERNEL = """// Sums of three neighbours.
//
// /// kernel
// op      = "stepped_sum.py"
// axes    = { rows = "1..100", n = "1..100000" }
// tune    = { stride = [1, 2, 3], pad = [0, 1] }
// where   = ["n + 2 * pad >= 3"]
// let     = { places = "(n + 2 * pad - 3) / stride + 1" }
// scalars = { stride = "stride", pad = "pad" }
// arrays  = { x = "f32[rows, n] -> x", y = "f32[rows, places] <- y" }
//
// [[launch]]
// entry = "stepped"
// grid  = "ceil_div(places, 64), rows"
// block = "64"
// args  = ["y", "x", "n", "places", "stride", "pad"]
// ///
__global__ void stepped(float *y, const float *x, int n, int places, int stride, int pad) {}
"""


def kernel(folder: Path, text: str = KERNEL) -> Kernel:
    (folder / "stepped_sum.py").write_text(OP)
    file = folder / "mine.cu"
    file.write_text(text)
    return load(file)


def test_the_size_of_an_output_follows_from_axes_and_tune(tmp_path: Path) -> None:
    mine = kernel(tmp_path)
    x = np.zeros((2, 10), "f4")
    for stride, pad, places in ((1, 0, 8), (3, 0, 3), (3, 1, 4)):
        bound = mine.bind({"x": x}, {"stride": stride, "pad": pad})
        (y,) = (one for one in bound.job.buffers if one.name == "y")
        assert y.shape == (2, places)
        assert bound.scalars == {"stride": stride, "pad": pad}


@pytest.mark.parametrize(
    ("was", "becomes", "found"),
    [
        ("- 3) / stride + 1", "- 3) / stride + 2", "for (n + 2 * pad - k) // stride + 1, which is"),
        ('// where   = ["n + 2 * pad >= 3"]\n', "", "defined for n + 2 * pad >= k alone; write it into where"),
        ('stride = "stride", pad', "pad", "for (n + 2 * pad - k) // stride + 1, which is"),
        ('pad = "pad" }', 'pad = "pad - 2" }', "places=1; it is 0 or more"),
    ],
)
def test_a_claim_that_contradicts_the_op_is_an_error(tmp_path: Path, was: str, becomes: str, found: str) -> None:
    assert was in KERNEL
    with pytest.raises((ClaimError, ValueError)) as error:
        kernel(tmp_path, KERNEL.replace(was, becomes))
    assert found in str(error.value)


def test_planned_sizes_have_an_output(tmp_path: Path) -> None:
    mine = kernel(tmp_path)
    seen = set()
    for seed in range(60):
        attempt = plan(mine, seeded_choices(seed))
        n = attempt.case.arrays["x"].shape[1]
        assert n + 2 * attempt.tune["pad"] >= 3
        seen.add((n, *attempt.tune.values()))
    assert {(stride, pad) for _, stride, pad in seen} == {(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (3, 1)}
    assert min(n for n, *_ in seen) <= 3


def test_a_kept_case_says_nothing_of_the_output(tmp_path: Path) -> None:
    mine = kernel(tmp_path)
    case = case_of(mine.op, {"x": np.arange(12, dtype="f4").reshape(2, 6)})
    case_file.write(tmp_path / "kept.json", Record(case))
    assert case_file.read(tmp_path / "kept.json").case == case
    assert case.axes == {"rows": 2, "n": 6}


def test_a_case_is_made_smaller_along_each_input_dimension(tmp_path: Path) -> None:
    mine = kernel(tmp_path)
    case = case_of(mine.op, {"x": np.arange(12, dtype="f4").reshape(2, 6)})
    subject = subject_of(mine, case, {"stride": 1, "pad": 0}, check=False, seed=0)
    assert subject.axes == {"rows": 2, "n": 6}
    smaller = subject.keep("n", [1, 3, 5]).keep("rows", [1])
    assert np.array_equal(smaller.case.arrays["x"], [[7, 9, 11]])
