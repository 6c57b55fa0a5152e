"""Tensor memory (tcgen05) and clusterlaunchcontrol in programs: right ones are silent, and each bug has its line."""

from pathlib import Path

import pytest
from paths import DATA
from planted_cases import by_turns, examine, right_cases, wrong_cases
from planted_jobs import expected_if
from program_runs import built

pytestmark = pytest.mark.slow
FILES = ("tensor_memory", "launch_control")
RIGHT = [(file, case) for file in FILES for case in right_cases(file)]
ALWAYS_RIGHT = {
    *("kinds", "narrow_kinds", "scaled_kinds", "swizzles", "by_rows_of_k", "factors_in_tensor_memory"),
    *("pairs_of_blocks", "kept_factors", "transfers", "clusters"),
}
WRONG = [(file, case) for file in FILES for case in wrong_cases(file)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {file: built(tmp_path_factory.mktemp(file), str(DATA / "planted" / f"{file}.cu")) for file in FILES}


@pytest.mark.parametrize(("file", "case", "seed"), by_turns(RIGHT))
def test_right_cases_have_no_finding_and_the_right_answer(
    programs: dict[str, Path], file: str, case: str, seed: int
) -> None:
    _, findings, output = examine(programs[file], case, seed=seed)
    assert (findings, output) == ([], f"{case}\n")


@pytest.mark.parametrize(("file", "case", "seed"), by_turns(WRONG))
def test_each_bug_has_a_finding_of_its_kind_on_its_line(
    programs: dict[str, Path], file: str, case: str, seed: int
) -> None:
    marks, findings, _ = examine(programs[file], "wrong", case, seed=seed)
    assert expected_if(file, case) in marks, findings


def test_every_pair_has_a_mark() -> None:
    assert {case for _, case in WRONG} == {case for file, case in RIGHT if case not in ALWAYS_RIGHT}
