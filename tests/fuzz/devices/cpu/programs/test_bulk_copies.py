"""Bulk copies, mbarriers that count bytes, and wgmma, in programs: right ones are silent, and each bug has its line."""

import subprocess
from pathlib import Path

import pytest
from paths import DATA
from planted_cases import by_turns, examine, right_cases, wrong_cases
from planted_jobs import expected_if
from program_runs import built

from kfuzz.devices import nvcc
from kfuzz.devices.gpu import driver

pytestmark = pytest.mark.slow
FILES = ("bulk_copies", "bulk_copies_by_ptx", "tensor_maps", "wgmma", "async_stores")
CASES = {file: right_cases(file) for file in FILES}
WRONG = [(file, case) for file in FILES for case in wrong_cases(file)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {file: built(tmp_path_factory.mktemp(file), str(DATA / "planted" / f"{file}.cu")) for file in FILES}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (2, 3))])
def test_right_cases_have_no_finding_and_the_right_answer(programs: dict[str, Path], file: str, seed: int) -> None:
    _, findings, output = examine(programs[file], *CASES[file], seed=seed)
    assert (findings, output) == ([], "".join(f"{case}\n" for case in CASES[file]))


@pytest.mark.parametrize(("file", "case", "seed"), by_turns(WRONG))
def test_each_bug_has_a_finding_of_its_kind_on_its_line(
    programs: dict[str, Path], file: str, case: str, seed: int
) -> None:
    marks, findings, _ = examine(programs[file], "wrong", case, seed=seed)
    assert expected_if(file, case) in marks, findings


def test_every_pair_of_copies_has_a_mark() -> None:
    assert {case for file, case in WRONG if file == "bulk_copies"} == set(CASES["bulk_copies"])


def test_a_box_swizzled_by_64_bytes_is_not_one_swizzled_by_128(programs: dict[str, Path]) -> None:
    _, findings, output = examine(programs["tensor_maps"], "wrong", "swizzle_64_read_as_128")
    assert (findings, output) == ([], "")


def test_a_map_that_the_driver_refuses_is_refused_and_a_warning(programs: dict[str, Path]) -> None:
    marks, findings, output = examine(programs["tensor_maps"], "refusals")
    assert {(severity, kind) for severity, kind, _ in marks} == {("warning", "tensor-map")}
    assert output == "refusals\n"
    assert any("a side of the box that is not 1 to 256" in one.message for one in findings)


@pytest.mark.gpu
@pytest.mark.parametrize("file", FILES)
def test_right_cases_run_to_their_end_on_a_gpu(tmp_path: Path, file: str) -> None:
    program = tmp_path / "program"
    text = str(DATA / "planted" / f"{file}.cu")
    target = nvcc.code_for(f"{driver.gpu().architecture}a")  # with what this generation of GPUs alone has
    subprocess.run([nvcc.find_nvcc(), "-std=c++17", *target, text, "-o", str(program)], check=True)
    ran = subprocess.run([str(program), *CASES[file]], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()) == (0, list(CASES[file]))
