"""The shape that a function was written for, and a smaller one like it where that is too large for a trial."""

import ast
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paths import DATA

from kfuzz.campaign.schedule import with_few_programs
from kfuzz.cases.case import case_of
from kfuzz.cases.plans.counting import work
from kfuzz.cases.plans.home import MOST_OF_ONE, MOST_WORK, halvings, home_of, names_its_home
from kfuzz.cases.plans.plan import plan, plan_like, repeat_to
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.claims.language.python_constants import constants_in
from kfuzz.claims.references.formats import helpers
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

SOURCE = DATA / "extensions" / "ranked" / "by_fours.cu"


def kernel(rows: int, cols: int, path: Path = SOURCE) -> Kernel:
    return kernel_with(path, Unclaimed("row_sum", FunctionWords(home=(rows, cols))))


@pytest.mark.parametrize(
    ("home", "tried"),
    [
        ((8, 128), (8, 128)),
        ((4096, 393216), (32, 12288)),  # rows of 1.5 MB: tiles of 4096 are left
        ((4, 1 << 20), (4, 65536)),
        ((1 << 20, 4), (65536, 4)),
        ((1 << 30, 4), (65536, 4)),
    ],
)
def test_a_home_that_is_too_large_becomes_a_smaller_shape_of_whole_tiles(
    home: tuple[int, int], tried: tuple[int, int]
) -> None:
    found = kernel(*home)
    assert tuple(found.home.values()) == home
    assert tuple(home_of(found).values()) == tried


def test_a_trial_of_few_programs_has_the_home_of_all_sizes() -> None:
    """The batch of 128 halves to 2 among all sizes, and to nothing where each size is at most 16: it stayed whole."""
    found = kernel(4096, 393216)
    assert home_of(with_few_programs(found)) == home_of(found) == {"rows": 32, "cols": 12288}


def test_the_terms_of_sums_count_and_those_of_one_element_for_themselves() -> None:
    found = replace(load(KERNELS / "sgemm" / "naive.cu"), home={"m": 4096, "n": 2048, "k": 8192})
    tried = home_of(found)
    assert work(found, {"m": 3, "n": 5, "k": 7}) == 3 * 5 * 7
    assert work(found, {"m": 3, "n": 5, "k": 7}, of_one=True) == 7
    assert MOST_WORK // 16 < work(found, tried) <= MOST_WORK
    assert work(found, tried, of_one=True) <= MOST_OF_ONE
    assert len({*tried.values()}) == 3


def test_sizes_that_differ_at_home_differ_in_its_smaller_shapes_and_none_is_1_as_long_as_it_can_be() -> None:
    home = {"batch": 32, "heads": 32, "rows": 512, "width": 1024}
    smaller = list(halvings(home))
    place = smaller.index({"batch": 2, "heads": 2, "rows": 4, "width": 8})
    assert all(axes["rows"] != axes["width"] for axes in smaller[:place])
    assert all(min(axes.values()) > 1 for axes in smaller[: place + 1])
    assert all(axes["heads"] != axes["rows"] for axes in smaller[:place])
    assert smaller[-1] == dict.fromkeys(home, 1)


def test_trials_have_the_smaller_shape_again_and_again() -> None:
    found, draw = kernel(4096, 393216), random.Random(1)  # noqa: S311  sizes, nothing secret
    sizes = [plan(found, draw.randint).case.axes for _ in range(60)]
    assert dict(home_of(found)) in [dict(one) for one in sizes]
    assert max(one["cols"] for one in sizes) < 393216


def test_a_case_is_repeated_along_each_axis_until_it_fills_the_home() -> None:
    found = kernel(4, 6)
    small = case_of(found.op, {"x": np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], np.float32)})
    attempt = plan_like(small, found, found.home, {})
    assert attempt
    assert attempt.case.arrays["x"].tolist() == [
        [1, 2, 3, 4, 1, 2], [5, 6, 7, 8, 5, 6], [9, 10, 11, 12, 9, 10], [1, 2, 3, 4, 1, 2],
    ]  # fmt: skip
    assert repeat_to(np.arange(6, dtype=np.float32).reshape(1, 6), (4,)).tolist() == [0, 1, 2, 3]
    assert repeat_to(np.float32(3).reshape(()), ()).tolist() == 3


def test_integers_with_a_structure_are_kept_at_their_own_size_and_are_repeated_at_no_other() -> None:
    found = load(next((KERNELS / "segment_sum").glob("*.cu")))
    assert found.roles.structures
    case = plan(found, random.Random(1).randint).case  # noqa: S311  sizes, nothing secret
    axes, tune = found.axes_of(case.arrays), next(found.tunes(found.axes_of(case.arrays)))
    same = plan_like(case, found, axes, tune)
    assert same
    assert same.case == case
    assert plan_like(case, found, {name: size + 1 for name, size in axes.items()}, tune) is None


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("constexpr int COLS = 393216;", True),
        ("// written for 4096 x 393216", False),
        ("constexpr int COLS = 3932160;", False),
        ("constexpr int COLS = 12288;", False),
    ],
)
def test_a_text_that_names_a_size_of_its_home_is_known(line: str, names: bool, tmp_path: Path) -> None:
    path = tmp_path / "sums.cu"
    path.write_text(f"{line}\n{SOURCE.read_text()}")
    assert names_its_home(kernel(4096, 393216, path)) == names
    assert not names_its_home(kernel(4, 128, path))


def test_what_only_the_inputs_of_a_benchmark_are_made_of_is_no_code() -> None:
    text = """
import torch
TILE = 32
CUDA = "constexpr int N = 96;"
rows, cols = 112, 512
shape = (rows, cols)
channels = 16
class ModelNew:
    "For rows of 4096."
    def __init__(self, channels):
        self.channels = channels
    def forward(self, x):
        return run(CUDA, TILE, x.view(-1, 77))
def get_inputs():
    return [torch.rand(shape)]
"""
    strings, numbers = constants_in(ast.parse(text), helpers())
    assert strings == ["constexpr int N = 96;"]
    assert numbers == {32, 1, 77}
