"""Kernels and callables with narrow types on a real GPU: right ones are kept, wrong ones are found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from narrow_kernels import FILES, check_callable, lacks, narrow_kernels, trials_of

from kfuzz.campaign.device import open_device
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device

pytestmark = pytest.mark.gpu

TRIALS, TRIALS_TO_FIND = 40, 300
SEEN_ON_A_GPU = ("numeric", "special")
"""A race of two threads shows on a GPU only by chance."""


@pytest.fixture(scope="module")
def gpu() -> Iterator[Device]:
    device = open_device("gpu")
    yield device
    device.close()


@pytest.mark.parametrize("kernel", narrow_kernels(broken=False), ids=lambda kernel: kernel.name)
def test_a_right_kernel_is_kept(kernel: Kernel, gpu: Device) -> None:
    for trial in trials_of(kernel, gpu, TRIALS):
        assert not trial.errors, f"{trial.errors[0].message} [{trial.case}, {dict(trial.tune)}]"


@pytest.mark.parametrize(
    "kernel", [one for one in narrow_kernels(broken=True) if one.broken and one.broken.kind in SEEN_ON_A_GPU],
    ids=lambda kernel: kernel.name,
)  # fmt: skip
def test_a_wrong_kernel_is_found(kernel: Kernel, gpu: Device) -> None:
    assert kernel.broken
    kinds = (defect.kind for trial in trials_of(kernel, gpu, TRIALS_TO_FIND) for defect in trial.errors)
    assert kernel.broken.kind in kinds


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_library_quantizes_as_it_should(path: Path, gpu: Device) -> None:
    if why := lacks(path, on_gpu=True):
        pytest.skip(why)
    check_callable(path, gpu, TRIALS)
