"""PyTorch extensions as they are, without torch: right ones are kept, wrong ones are found with the kind they name."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import DATA
from wrong_twins import kinds_of, list_extensions

from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.plans.plan import plan
from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError, Probe, Refusal
from kfuzz.devices.cpu.device import CpuDevice

pytestmark = pytest.mark.slow

EXTENSIONS = list_extensions(DATA / "extensions")
RIGHT = [path for path in EXTENSIONS if not path.name.startswith("wrong_")]
WRONG = [path for path in EXTENSIONS if path.name.startswith("wrong_")]
IN_THE_SUITE = {
    "softmax_rows",
    "wrong_missing_barrier",
    "wrong_unwritten",
}
"""The others are run by make soak."""
TRIALS, MOST = 6, 24
"""Trials of a right one; and as many of a wrong one until it is found: every third checks each access."""


def chosen(path: Path) -> object:
    """An extension, marked soak unless every run of the tests looks at it."""
    return pytest.param(path, id=path.stem, marks=() if path.stem in IN_THE_SUITE else pytest.mark.soak)


def trials(path: Path, cpu: CpuDevice, count: int) -> Iterator[Trial]:
    kernel = load(path)
    for seed in range(count):
        attempt = plan(kernel, random.Random(seed).randint, budget=1 << 12)  # noqa: S311  sizes, nothing secret
        yield run_trial(kernel, attempt.case, attempt.tune, cpu, Probe(check=seed % 3 == 2))


@pytest.mark.parametrize("path", [*map(chosen, RIGHT)])
def test_a_right_extension_is_run_as_it_is_and_not_accused(path: Path, cpu: CpuDevice) -> None:
    done = list(trials(path, cpu, TRIALS))
    assert [(one.axes, one.errors) for one in done if one.errors] == []
    assert sum(one.elements for one in done) > 40


@pytest.mark.parametrize("path", [*map(chosen, WRONG)])
def test_a_wrong_extension_is_found_with_the_kind_that_it_names(path: Path, cpu: CpuDevice) -> None:
    kinds = kinds_of(path)
    assert kinds
    seen: set[str] = set()
    for trial in trials(path, cpu, MOST):
        seen |= {defect.kind for defect in trial.errors} | {
            "refused" for one in trial.reasons if isinstance(one, Refusal)
        }
        if seen & kinds:
            return
    pytest.fail(f"after {MOST} trials: {seen or 'nothing'}")


def test_too_few_results_are_a_mistake_of_the_claim(cpu: CpuDevice, tmp_path: Path) -> None:
    text = (RIGHT[0].parent / "two_results.cu").read_text().replace("return {m, s};", "return {m};")
    path = tmp_path / "one_result.cu"
    path.write_text(text)
    with pytest.raises(ClaimError, match="it returns 1 tensors; the claim wants m, s"):
        list(trials(path, cpu, 1))


def test_what_the_shim_lacks_is_a_compile_error_that_names_it(cpu: CpuDevice, tmp_path: Path) -> None:
    text = (RIGHT[0].parent / "views_transpose.cu").read_text().replace("x.t().contiguous()", "at::native_cholesky(x)")
    path = tmp_path / "unknown.cu"
    path.write_text(text)
    with pytest.raises(ClaimError, match=r"unknown.cu:\d+.*native_cholesky"):
        list(trials(path, cpu, 1))


def test_what_torchs_general_headers_lack_is_a_compile_error_here_too(cpu: CpuDevice, tmp_path: Path) -> None:
    path = tmp_path / "one_header.cu"
    text = (RIGHT[0].parent / "softmax_rows.cu").read_text()
    path.write_text("".join(line for line in text.splitlines(keepends=True) if "/cuda/" not in line))
    wanted = r"'C10_CUDA_KERNEL_LAUNCH_CHECK' was not declared.*: include <c10/cuda/CUDAException.h>, which torch/"
    with pytest.raises(ClaimError, match=wanted):
        list(trials(path, cpu, 1))


def test_a_check_of_torchs_is_a_refusal_with_its_line(cpu: CpuDevice, tmp_path: Path) -> None:
    text = (RIGHT[0].parent / "softmax_rows.cu").read_text().replace('["x", -1]', '["x", 0]')
    path = tmp_path / "refuses.cu"
    path.write_text(text)
    (trial,) = trials(path, cpu, 1)
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "only the last dimension" in one)
    assert (trial.defects, trial.elements) == ((), 0)
    assert trial.reasons == (Refusal("only the last dimension, not 0", line),)
