"""Kernels that may begin before those before them have ended: programmatic stream serialization, captures and edges."""

import subprocess
from pathlib import Path

import pytest
from early_cases import RIGHT, WRONG
from paths import DATA
from planted_jobs import Mark, expected_if
from program_runs import built, server

from kfuzz.devices import Finding, nvcc
from kfuzz.devices.cpu.programs.build import load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram

pytestmark = pytest.mark.slow
SOURCE = DATA / "planted" / "early_launches.cu"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("early"), str(SOURCE))


def examine(program: Path, *cases: tuple[str, str], seed: int = 1) -> list[Finding]:
    words = [word for way_and_case in cases for word in way_and_case]
    one = CheckedProgram(load_program(program), (str(program), *words), 60.0, server(), lambda _: None)
    findings = list(one.examine(2, seed=seed).findings)
    names = "".join(f"{case}\n" for _, case in cases)
    assert {run.output if isinstance(run.output, str) else run.output.decode() for run in one.printed} == {names}
    return findings


def mark_of(way: str, case: str) -> Mark:
    """The finding that a wrong case must have, at the access that comes too early."""
    return expected_if("early_launches", WRONG[way][case])


def test_a_kernel_that_waits_for_what_it_uses_has_no_finding(program: Path) -> None:
    assert examine(program, *((way, case) for way, cases in RIGHT.items() for case in cases)) == []


@pytest.mark.gpu
def test_right_cases_run_to_their_end_on_a_gpu(tmp_path: Path) -> None:
    cases = [(way, case) for way, cases in RIGHT.items() for case in cases]
    program = tmp_path / "early"
    subprocess.run([nvcc.find_nvcc(), "-std=c++17", "-arch=native", str(SOURCE), "-o", str(program)], check=True)
    words = [word for way_and_case in cases for word in way_and_case]
    ran = subprocess.run([str(program), *words], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()) == (0, [case for _, case in cases])


def test_an_access_before_the_wait_is_a_race_with_its_line(program: Path) -> None:
    cases = [("stream", case) for case in WRONG["stream"]] + [("port1", case) for case in WRONG["port1"]]
    findings = examine(program, *cases)
    wanted = {mark_of(way, case) for way, case in cases}
    assert {(one.severity, one.kind, one.line) for one in findings} == wanted
    lines = {line for severity, _, line in wanted if severity == "error"}
    messages = " ".join(one.message for one in findings)
    assert all(f"needs cudaGridDependencySynchronize() before line {line}," in messages for line in lines)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("way", "case"), [(way, case) for way, cases in WRONG.items() for case in cases])
def test_each_wrong_case_is_found_by_itself(program: Path, way: str, case: str, seed: int) -> None:
    findings = examine(program, (way, case), seed=seed)
    assert mark_of(way, case) in {(one.severity, one.kind, one.line) for one in findings}
    assert {one.kind for one in findings} == {"race"}


def test_a_launch_that_never_waits_is_named_where_a_later_one_relies_on_it(program: Path) -> None:
    case = "third_reads_the_first_that_the_second_never_waits_for"
    (found,) = examine(program, ("stream", case))
    line = next(
        number for number, text in enumerate(SOURCE.read_text().splitlines(), 1) if "cudaLaunchKernelExC" in text
    )
    assert found.severity == "warning"
    assert f"the launch in line {line}, between the two, may begin early and never waits" in found.message
    assert "needs cudaGridDependencySynchronize() there too" in found.message


@pytest.mark.soak
@pytest.mark.parametrize("seed", [2, 3])
def test_right_cases_have_no_finding_in_other_orders(program: Path, seed: int) -> None:
    assert examine(program, *((way, case) for way, cases in RIGHT.items() for case in cases), seed=seed) == []
