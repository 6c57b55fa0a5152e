"""Programs whose grids follow the GPU: host functions see an H200 first, and a small GPU in the second run."""

from functools import partial
from pathlib import Path

import pytest
from paths import DATA
from program_runs import built, check_program

pytestmark = pytest.mark.slow
check = partial(check_program, runs=3)
ON_SMALL = "on a GPU with 4 multiprocessors"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("sizes"), str(DATA / "gpu_sizes" / "sized_by_the_gpu.cu"))


def test_a_right_program_may_print_what_depends_on_the_size_of_the_gpu(program: Path) -> None:
    one, findings = check(program, "loops", "300")
    assert findings == []
    assert len({each.output.splitlines()[-1] for each in one.printed}) == 2


def test_one_run_sees_an_h200_where_264_blocks_are_enough(program: Path) -> None:
    assert check(program, "capped", "264", runs=1)[1] == []


def test_a_grid_that_only_a_small_gpu_makes_too_small_is_found_with_that_gpu(program: Path) -> None:
    (finding,) = check(program, "capped", "20")[1]
    assert (finding.kind, finding.multiprocessors) == ("uninitialised", 4)
    assert finding.message.endswith(ON_SMALL)


def test_a_grid_that_is_too_small_on_an_h200_is_found_without_a_gpu(program: Path) -> None:
    (finding,) = check(program, "capped", "300")[1]
    assert (finding.kind, finding.multiprocessors) == ("uninitialised", 0)
    assert ON_SMALL not in finding.message
