"""Warp without a GPU: a launch runs the PTX that it compiles, on arrays of torch or of Warp."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from small_callables import trial_of

from kfuzz.devices import ClaimError, Refusal
from kfuzz.devices.python.device import PythonDevice

pytestmark = [pytest.mark.slow(5), pytest.mark.skipif(find_spec("warp") is None, reason="warp-lang is not installed")]
ROW_SUM = """import warp as wp

wp.init()


@wp.struct
class Table:
    rows: wp.array2d(dtype=float)
    cols: int


@wp.func
def add_up(row: wp.array(dtype=float), cols: int):
    total = float(0.0)
    for c in range(cols):
        total += row[c]
    return total


@wp.kernel
def kernel(table: Table, y: wp.array(dtype=float)):
    row = wp.tid()
    y[row] = add_up(table.rows[row], table.cols)


def forward(x):
    table = Table()
    table.rows, table.cols = {rows}, x.shape[1]{more}
    y = wp.empty(x.shape[0], dtype=float, device="cuda")
    wp.launch(kernel, dim={dim}, inputs=[table], outputs=[y])
    {end}
"""
TORCH = "import torch\n"


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def row_sum(
    rows: str = "x", more: str = "", dim: str = "x.shape[0]", end: str = "return y", before: str = ""
) -> str:  # fmt: skip
    """A file of one kernel, with these words in it."""
    return before + ROW_SUM.format(rows=rows, more=more, dim=dim, end=end)


def test_arrays_of_warp_in_a_structure_run(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "own", row_sum(), device)
    assert [one.message for one in tried.defects] == []
    assert tried.elements == 3


def test_tensors_of_torch_come_and_go(device: PythonDevice, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = row_sum("wp.from_torch(x)", end="return wp.to_torch(y)", before=TORCH)
    tried = trial_of(tmp_path, "tensors", text, device)
    assert [one.message for one in tried.defects] == []
    assert tried.elements == 3


def test_an_access_out_of_bounds_names_the_line_and_the_array(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "past", row_sum(more=" + 1"), device)
    (found,) = (one for one in tried.errors if one.kind == "out-of-bounds")
    assert found.line == 19
    assert "reads x[12]; x is f32[12]" in found.message


def test_a_launch_of_too_many_threads_is_out_of_bounds(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "many", row_sum(dim="x.shape[0] + 1"), device)
    assert {one.line for one in tried.errors if one.kind == "out-of-bounds"} == {19, 26}


def test_a_kernel_that_writes_nothing_is_not_right(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "none", row_sum(dim="0"), device)
    assert "unwritten" in {one.kind for one in tried.errors}


def test_an_error_of_its_host_code_is_an_exception_of_the_line(device: PythonDevice, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    tried = trial_of(tmp_path, "types", row_sum("wp.from_torch(x.double())", before=TORCH), device)
    assert [(one.kind, one.line) for one in tried.defects] == [("exception", 32)]


def test_arrays_of_the_host_are_refused_in_a_launch_on_the_gpu(device: PythonDevice, tmp_path: Path) -> None:
    text = row_sum("x.to('cpu')")
    with pytest.raises(ClaimError, match="table of a launch is an address of memory that is no tensor's"):
        trial_of(tmp_path, "host", text, device)


def test_what_needs_more_of_a_gpu_is_refused_in_one_line(device: PythonDevice, tmp_path: Path) -> None:
    text = row_sum(end="wp.HashGrid(8, 8, 8, device='cuda')\n    return y")
    with pytest.raises(ClaimError, match="Warp calls wp_hash_grid_create_device, which the cpu device does not have"):
        trial_of(tmp_path, "grid", text, device)


def test_what_warp_does_not_compile_is_one_line(device: PythonDevice, tmp_path: Path) -> None:
    text = row_sum().replace("total += row[c]", "total += missing")
    with pytest.raises(ClaimError, match="warp does not compile this: "):
        trial_of(tmp_path, "wrong", text, device)


def test_what_warp_has_not_compiled_once_is_one_line_again(device: PythonDevice, tmp_path: Path) -> None:
    """Warp raises a kept error when the same module is launched once more."""
    pytest.importorskip("torch")
    text = row_sum("wp.from_torch(x)", end="return wp.to_torch(y)", before=TORCH)
    text = text.replace("total += row[c]", "total += missing").replace("    wp.launch(", "    TWICE\n    wp.launch(")
    twice = "try:\n        wp.launch(kernel, dim=1, inputs=[table], outputs=[y])\n    except Exception:\n        pass"
    tried = trial_of(tmp_path, "again", text.replace("TWICE", twice), device)
    assert tried.defects == ()
    (words,) = {one.words for one in tried.reasons if isinstance(one, Refusal)}
    assert words.startswith("warp does not compile this: ")


def test_a_name_of_another_release_is_one_line(device: PythonDevice, tmp_path: Path) -> None:
    """Warp's optimizer of an older release asks for warp.types.float32, and was accused of that."""
    text = row_sum(end="assert wp.types.float_of_old\n    return y")
    with pytest.raises(ClaimError, match=r"warp \d[\d.]+ has no warp\.types\.float_of_old"):
        trial_of(tmp_path, "old", text, device)
