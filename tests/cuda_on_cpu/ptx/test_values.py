"""PTX's instructions give what they mean: whole numbers and fractions of Python, on edges and on random values."""

from collections.abc import Callable

import pytest
from ptx_floats import every_conversion, every_float_row
from ptx_integers import every_integer_row
from ptx_rows import Checked, find_differences

from kfuzz.devices.cpu.device import CpuDevice


@pytest.mark.slow
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("rows", [every_integer_row, every_float_row, every_conversion])
def test_every_instruction_gives_what_it_means(device: CpuDevice, rows: Callable[[], list[Checked]], step: int) -> None:
    """A plain run compiles every fourth: neighbours differ in a type or a modifier."""
    assert find_differences(device, rows()[::step], seed=1) == []


@pytest.mark.slow
def test_a_wrong_meaning_is_found(device: CpuDevice) -> None:
    rows = [Checked("mul.hi.s32 %0, %1, %2;", ("r", "r"), "r", lambda a, b: a * b >> 32)]  # as if unsigned
    assert len(find_differences(device, rows, seed=1)) == 1
