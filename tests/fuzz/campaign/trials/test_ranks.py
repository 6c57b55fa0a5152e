"""Ranks of findings: errors at the shape that a function was written for, and errors at other shapes only."""

import re
import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from paths import DATA

from kfuzz.campaign.campaign import Lane
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.campaign.ranking import run_at_home, run_like, separating_condition
from kfuzz.campaign.result import Result
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import load
from kfuzz.common.phases import Phase, Stage, listening
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.guess_host import FunctionWords
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.ui.reports.failure import evidence

RANKED = sorted((DATA / "extensions" / "ranked").glob("*.cu"))
IN_THE_SUITE = ("by_fours", "capped_grid")
EVERY = [pytest.param(one, id=one.stem, marks=() if one.stem in IN_THE_SUITE else pytest.mark.soak) for one in RANKED]


def said_in(path: Path, what: str) -> str:
    """The words behind `// what: ` at the top of a file."""
    found = re.search(rf"^// {what}: (.*)$", path.read_text(), re.MULTILINE)
    assert found
    return found[1]


@cache
def searched(path: Path, home: tuple[int, ...] = (8, 128), other_shapes: bool = True) -> Result:
    kernel = kernel_with(path, Unclaimed(said_in(path, "op"), FunctionWords(home=home)))
    options = Options(seed=1, max_cases=14, other_shapes=other_shapes)
    return search((kernel,), [Lane("cpu", CpuDevice)], options)


@pytest.mark.slow
@pytest.mark.parametrize("path", EVERY)
def test_a_finding_is_ranked_by_what_it_means_at_home(path: Path) -> None:
    (result,) = searched(path).kernels
    defect = result.news[0].headline.defect
    reported = dict(evidence(defect))["rank"]
    assert reported.startswith(said_in(path, "rank"))
    assert reported.split()[0].rstrip(":") == defect.title


@pytest.mark.soak
def test_without_a_home_there_are_no_ranks() -> None:
    (result,) = searched(RANKED[0], home=()).kernels
    assert [one.defect.standing for one in result.discoveries if one.defect.standing] == []
    assert result.news


@pytest.mark.slow
def test_what_is_narrow_is_a_warning_unless_other_shapes_count() -> None:
    (result,) = searched(RANKED[0], other_shapes=False).kernels
    assert {one.defect.severity for one in result.discoveries} == {"warning"}
    assert result.bugs[0].headline.defect.title == "NARROW"
    assert not result.news


@pytest.mark.slow
def test_what_is_broken_at_home_is_an_error_even_if_its_small_case_is_interrupted() -> None:
    def interrupt(phase: Phase) -> None:
        if phase.step is Stage.SHRINKING:
            raise KeyboardInterrupt

    path = next(one for one in RANKED if one.stem == "last_row_left_out")
    with listening(interrupt):
        bug = searched.__wrapped__(path, other_shapes=False).kernels[0].bugs[0]
    assert (bug.headline.defect.title, bug.is_error) == ("BROKEN", True)


@pytest.mark.soak
def test_what_cannot_be_judged_at_home_is_no_error_elsewhere(tmp_path: Path) -> None:
    text = next(one for one in RANKED if one.stem == "by_fours").read_text()
    path = tmp_path / "refuses_its_home.cu"
    refusal = 'TORCH_CHECK(x.size(1) != 128, "not this size");'
    path.write_text(text.replace("(torch::Tensor x) {\n", "(torch::Tensor x) {\n  " + refusal + "\n"))
    for other_shapes, title in ((False, "NARROW"), (True, "BROKEN")):
        bug = searched(path, other_shapes=other_shapes).kernels[0].bugs[0]
        assert (bug.headline.defect.title, bug.is_error) == (title, other_shapes)
    assert searched(path, other_shapes=False).kernels[0].bugs[0].headline.defect.standing == "not judged at 8x128"


@pytest.mark.soak
def test_what_an_earlier_call_changes_is_broken_at_a_home_of_any_size() -> None:
    path = next(one for one in RANKED if one.stem == "first_width")
    for home in ((8, 128), (512, 512)):  # trials of large cases have no earlier calls
        defect = searched(path, home, other_shapes=False).kernels[0].news[0].headline.defect
        assert (defect.kind, defect.severity, defect.title) == ("stateful", "error", "BROKEN")
    assert defect.standing == "at 512x512, the shape it was written for, after calls of other shapes"


RARE = """
# /// kernel
# op   = "column_softmax"
# call = { home = { rows = 40, cols = 8 } }
# ///
import numpy as np

def forward(x):
    e = np.exp(x - np.maximum(x.max(0), -1e4))
    return (e / e.sum(0)).astype(np.float32)
"""
"""Wrong where all numbers of a column lie below -1e4, which 40 rows of several families never do."""


def test_a_bug_for_rare_values_is_tried_at_home_with_these_values(tmp_path: Path) -> None:
    path = tmp_path / "rare.py"
    path.write_text(RARE)
    kernel = load(path)
    found = case_of(kernel.op, {"x": np.full((1, 3), -1e20, np.float32)})
    with closing(PythonDevice()) as device:
        home = run_at_home(kernel, device)
        assert home.is_known
        assert [one.errors for one in (*home.usual, *home.others) if one.errors] == []
        (trial,) = run_like(found, kernel, device)
    assert trial.axes == {"rows": 40, "cols": 8}
    assert trial.errors


@pytest.mark.soak
@pytest.mark.parametrize(
    ("words", "code"), [((), 1), (("--home", "8x128"), 0), (("--home", "8x128", "--shapes", "any"), 1)]
)
def test_the_exit_code_counts_other_shapes_where_they_were_asked_for(
    words: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    fixed = ("--op", "row_sum", "--device", "cpu", "--jobs", "1", "--seed", "1", "--max-cases", "14")
    command = [sys.executable, "-m", "kfuzz", "fuzz", str(RANKED[0]), *fixed, *words]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == code


@pytest.mark.parametrize(
    ("right", "wrong", "reported"),
    [
        ({4, 8, 16}, {1, 2, 3, 6}, "cols % 4 == 0"),
        ({1, 2, 3, 32}, {33, 48}, "cols <= 32"),
        ({33, 48}, {1, 2, 32}, "cols >= 33"),
        ({1, 4, 7}, {2, 5}, ""),
        ({4}, {1, 2, 3}, ""),
        ({1, 2, 3}, set(), ""),
    ],
)
def test_a_condition_separates_the_right_sizes_from_the_wrong(right: set[int], wrong: set[int], reported: str) -> None:
    assert separating_condition("cols", right, wrong) == reported
