"""CuTe DSL without a GPU: a launch runs what the DSL compiled, on the tensors of the file's own function."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_callables import trial_of

from kfuzz.campaign.trials.trial import Trial
from kfuzz.devices import ClaimError, Refusal
from kfuzz.devices.python.device import PythonDevice

pytestmark = pytest.mark.slow(3)
pytest.importorskip("torch")
pytest.importorskip("cutlass.cute", reason="nvidia-cutlass-dsl is not installed")

ROW_SUM = """import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack


@cute.kernel
def kernel(y: cute.Tensor, x: cute.Tensor, scale: cutlass.Float32, to: cutlass.Int64):
    row, _, _ = cute.arch.block_idx()
    total = cutlass.Float32(0.0)
    for c in range(x.shape[1]):
        total += x[row, c]
    y[row] = total * scale


@cute.jit
def launch(y: cute.Tensor, x: cute.Tensor, to: cutlass.Int64):
    kernel(y, x, cutlass.Float32(0.5), to).launch(grid=(y.shape[0], 1, 1), block=(1, 1, 1){launch})
    kernel(y, x, cutlass.Float32(1.0), to).launch(grid=(y.shape[0], 1, 1), block=(1, 1, 1))


def forward(x):
    held = torch.zeros(x.shape[0] + 2)
    y = held[1 : x.shape[0] + 1]
    given = from_dlpack(y), from_dlpack(x).mark_layout_dynamic()
    cute.compile(launch, *given, 3{options})(*given, 3)
    return y.clone()
"""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def refusal_of(tried: Trial) -> str:
    """Why a case is refused, with no finding."""
    assert tried.defects == ()
    (words,) = {one.words for one in tried.reasons if isinstance(one, Refusal)}
    return words


def test_views_numbers_two_launches_and_clusters_run(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "mine", ROW_SUM.format(launch=", cluster=(1, 1, 1)", options=""), device)
    assert tried.defects == ()
    assert tried.elements == 3


def test_a_grid_of_no_blocks_is_an_error_as_on_a_gpu(device: PythonDevice, tmp_path: Path) -> None:
    text = ROW_SUM.format(launch="", options="").replace("grid=(y.shape[0], 1, 1)", "grid=(to - 3, 1, 1)", 1)
    assert "cudaErrorInvalidConfiguration" in refusal_of(trial_of(tmp_path, "empty", text, device))


def test_a_function_of_tvm_ffi_takes_tensors_as_they_are(device: PythonDevice, tmp_path: Path) -> None:
    pytest.importorskip("tvm_ffi")
    text = ROW_SUM.format(launch="", options=', options="--enable-tvm-ffi"').replace("(*given, 3)", "(y, x, 3)")
    tried = trial_of(tmp_path, "ffi", text, device)
    assert [one.message for one in tried.defects] == []
    assert tried.elements == 3
    past = trial_of(tmp_path, "past", text.replace("range(x.shape[1])", "range(x.shape[1] + 1)"), device)
    assert {(one.kind, one.line) for one in past.errors} >= {("out-of-bounds", 15)}


def test_a_mistake_that_the_dsl_finds_is_one_line_without_colours(device: PythonDevice, tmp_path: Path) -> None:
    text = ROW_SUM.format(launch="", options="").replace("y[row] =", "y[row, 1, 2] =")
    words = refusal_of(trial_of(tmp_path, "wrong", text, device))
    assert words.startswith("without a GPU cute does not run this: ")
    assert "\x1b" not in words
    assert "\n" not in words


def test_a_function_from_a_file_is_refused_and_a_program_may_compile_it_instead(
    device: PythonDevice, tmp_path: Path
) -> None:
    """A library that keeps what it compiled got host code that needs a GPU: a right kernel was accused."""
    text = ROW_SUM.format(launch="", options="")
    load = "    {}cute.runtime.load_module('kept.o')\n    held ="
    with pytest.raises(ClaimError, match=r"CuTe DSL: kept.o is a compiled function from a file, without PTX"):
        trial_of(tmp_path, "kept", text.replace("    held =", load.format("")), device)
    caught = text.replace("    held =", load.format("with contextlib.suppress(Exception): "))
    assert trial_of(tmp_path, "caught", f"import contextlib\n{caught}", device).defects == ()
