"""Kernels whose inputs have structure: the right ones are kept, and each wrong one is found and made small."""

from collections.abc import Iterator
from math import inf

import pytest
from paths import DATA

from benchmarks.detection.hunt import hunt
from kfuzz.campaign.minimizing.minimize import minimize
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices.cpu.device import CpuDevice

FOLDER = DATA / "structures"
RIGHT = sorted(path.stem for path in FOLDER.glob("*.cu"))
WRONG = sorted(path.stem for path in FOLDER.glob("wrong_*.toml"))
QUICK = "segment_sum"
"""The kernel that every run of the tests looks at; each of the others takes seconds to compile."""
TRIALS = 300
ELEMENTS = 16
LARGER = {"wrong_segment_softmax_one_turn": 34 + 3}
"""Elements of a minimized input: a segment of more than a warp, another one, and offsets."""


@pytest.fixture(scope="module")
def cpu() -> Iterator[CpuDevice]:
    with CpuDevice() as device:
        yield device


def accused(kernel: Kernel, seed: int, trials: int, cpu: CpuDevice) -> list[str]:
    found = []
    for index in range(trials):
        attempt = attempt_of(kernel, seed, index, budget=1 << 14)
        trial = run_trial(kernel, attempt.case, attempt.tune, cpu, probe_of(kernel, seed, index, 2, 5.0))
        found += [defect.bucket for defect in trial.errors]
    return found


def check_wrong(name: str, seed: int, cpu: CpuDevice) -> None:
    kernel = load(FOLDER / f"{name}.toml")
    assert kernel.broken is not None
    quarry = hunt(kernel, kernel.broken.kind, seed, cpu, TRIALS, kernel.broken.severity)
    assert quarry is not None, f"not found in {TRIALS} trials from seed {seed}"
    small = minimize(quarry.failure, cpu, max_time=inf)
    case = small.failure.subject.case
    assert case.elements <= LARGER.get(name, ELEMENTS), case
    structures = kernel.roles.structures
    assert all((kernel.stored(case.arrays)[role] == case.arrays[role]).all() for role in structures)


@pytest.mark.slow
def test_a_right_kernel_of_segments_is_kept(cpu: CpuDevice) -> None:
    assert accused(load(FOLDER / f"{QUICK}.cu"), 0, 24, cpu) == []


@pytest.mark.slow
def test_a_wrong_kernel_of_segments_is_found_and_made_small(cpu: CpuDevice) -> None:
    check_wrong(f"wrong_{QUICK}_empty_reads", 0, cpu)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", RIGHT)
def test_no_right_kernel_is_accused(name: str, seed: int, cpu: CpuDevice) -> None:
    assert accused(load(FOLDER / f"{name}.cu"), seed, TRIALS, cpu) == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", WRONG)
def test_every_wrong_kernel_is_found_and_made_small(name: str, seed: int, cpu: CpuDevice) -> None:
    check_wrong(name, seed, cpu)
