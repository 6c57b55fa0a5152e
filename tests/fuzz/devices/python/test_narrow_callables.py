"""Quantizers of Python libraries: each library's narrow types reach the callable and come back as what they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from narrow_kernels import FILES, check_callable, lacks

from kfuzz.campaign.device import open_device
from kfuzz.devices import Device

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cpu() -> Iterator[Device]:
    device = open_device("cpu")
    yield device
    device.close()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_right_quantizer_is_kept_and_a_wrong_one_is_found(path: Path, cpu: Device) -> None:
    if why := lacks(path, on_gpu=False):
        pytest.skip(why)
    check_callable(path, cpu, 15)
