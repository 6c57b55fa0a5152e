"""Exhibits of properties that users rely on: wrong ones are found and right ones, which look suspicious, are kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import DATA
from wrong_twins import kinds_of, list_exhibits

from kfuzz.campaign.minimizing.minimize import Failure, find_defect, minimize
from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.replay import replay
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import Origin, Record
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.front_matter import text_of
from kfuzz.devices import CALLER, Device
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.python.device import PythonDevice

EXHIBITS = list_exhibits(DATA / "properties")
RIGHT = [path for path in EXHIBITS if not path.name.startswith("wrong_")]
WRONG = [path for path in EXHIBITS if path.name.startswith("wrong_")]
MOST, SEEDS = 300, (0, 1, 2)
"""Trials within which a wrong one is found, from each of these seeds."""
KEPT = 40
"""Trials of a right one in each run of the tests."""
IN_THE_SUITE = {
    "nan_names_its_row",
    "last_block_adds_in_order",
    "wrong_assumes_contiguous",
    "wrong_rounding_skipped",
    "wrong_offset_not_used",
    "wrong_adds_as_blocks_arrive",
    "wrong_masked_by_a_product",
    "wrong_index_below_zero",
    "wrong_writes_whole_tiles",
    "wrong_workspace_of_all_streams",
}
"""The others are run by make soak."""


def chosen(path: Path) -> object:
    """An exhibit, marked soak unless every run of the tests looks at it."""
    return pytest.param(path, id=path.stem, marks=() if path.stem in IN_THE_SUITE else pytest.mark.soak)


@pytest.fixture(scope="module")
def devices() -> Iterator[tuple[Device, Device]]:
    with CpuDevice() as cpu:
        python = PythonDevice()
        yield cpu, python
        python.close()


def trials(kernel: Kernel, devices: tuple[Device, Device], seed: int, count: int) -> Iterator[Trial]:
    """The first trials of a campaign of this seed."""
    for index in range(count):
        attempt = attempt_of(kernel, seed, index)
        probe = probe_of(kernel, seed, index, runs=3, timeout=10)
        device = devices[kernel.front.language.runner == CALLER]
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe, looks_at_all=True)


@pytest.mark.slow
@pytest.mark.parametrize("path", [*map(chosen, RIGHT)])
def test_a_right_kernel_is_not_accused_of_a_property(path: Path, devices: tuple[Device, Device]) -> None:
    done = list(trials(load(path), devices, 0, KEPT))
    assert [(one.axes, one.defects) for one in done if one.errors] == []
    assert any(one.looks for one in done)


@pytest.mark.slow
@pytest.mark.parametrize("path", [*map(chosen, WRONG)])
def test_a_wrong_kernel_is_found_from_each_seed(path: Path, devices: tuple[Device, Device]) -> None:
    kernel, kinds = load(path), kinds_of(path)
    for seed in SEEDS if path.stem not in IN_THE_SUITE else SEEDS[:1]:
        found = (one.kind for trial in trials(kernel, devices, seed, MOST) for one in trial.errors)
        assert next((kind for kind in found if kind in kinds), None), f"seed {seed}: none of {kinds}"


ANY = ', strides = "any"'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "written", "is_warned"),
    [
        ("wrong_assumes_contiguous", "", True),
        pytest.param("wrong_assumes_contiguous", ', strides = "contiguous"', False, marks=pytest.mark.soak),
        ("refuses_strides", "", False),
        pytest.param("makes_it_contiguous", "", False, marks=pytest.mark.soak),
        pytest.param("strided_row_sum", "", False, marks=pytest.mark.soak),
    ],
)
def test_a_function_that_neither_refuses_nor_handles_strides_is_warned_of(
    name: str, written: str, is_warned: bool, tmp_path: Path, devices: tuple[Device, Device]
) -> None:
    text = text_of(DATA / "properties" / f"{name}.cu")
    assert ANY in text
    (tmp_path / "mine.cu").write_text(text.replace(ANY, written))
    kernel = load(tmp_path / "mine.cu")
    done = list(trials(kernel, devices, 0, KEPT))
    found = [(trial, one) for trial in done for one in trial.defects]
    assert {(one.kind, one.severity) for _, one in found} == ({("strides", "warning")} if is_warned else set())
    assert any("strides" in (look.name for look in trial.looks) for trial in done) == (written == "")
    for trial, warning in found[:1]:  # the kept case shows it again
        probe = trial.probe
        origin = Origin(
            "mine", warning.bucket, "strides", "", "cpu", trial.tune, probe.check, 3, probe.seed, severity="warning"
        )
        again = replay(Record(trial.case, origin), kernel, devices[0])
        assert (again.status, again.broken_runs > 0) == ("warned", True)


@pytest.mark.soak
def test_the_batch_that_shows_a_variant_is_made_small(devices: tuple[Device, Device]) -> None:
    kernel = load(DATA / "properties" / "wrong_splits_by_batch.cu")
    trial = next(one for one in trials(kernel, devices, 0, MOST) if one.errors)
    subject = subject_of(kernel, trial.case, trial.tune, trial.probe.check, trial.probe.seed)
    small = minimize(Failure(subject, trial.errors[0], trial.probe.runs), devices[0], again=0)
    assert small.failure.defect.kind == "batch-variant"
    assert small.failure.subject.case.elements <= 8
    assert find_defect(small.failure.subject, small.failure, devices[0]) is not None
