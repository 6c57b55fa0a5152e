"""Triton without a GPU: a launch runs what Triton compiled, on the tensors of the file's own function."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_callables import trial_of

from kfuzz.campaign.trials.trial import Trial
from kfuzz.devices import ClaimError, MissingError
from kfuzz.devices.python.device import PythonDevice

pytestmark = pytest.mark.slow(2)
BEGIN = "import torch, triton\nimport triton.language as tl\n\n\n@triton.jit\n"
ARGUMENTS = """def kernel(y, x, nothing, steps, scale, is_scaled, far, COLS: tl.constexpr, N: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * steps[0] + j * steps[1], mask=j < COLS, other=0.0)
    if nothing is not None:
        v = v + 1.0
    if is_scaled:
        v = v * scale
    tl.store(y + row + (far >> 40) - 1, tl.sum(v))


def forward(x):
    held = torch.zeros(x.numel() + 5)
    held[5:] = x.reshape(-1)
    turned = held[5:].view(x.shape).t().contiguous().t()
    y = torch.empty(x.shape[0] + 3)
    kernel[(x.shape[0],)](y[3:], turned, None, turned.stride(), 1.0, True, 1 << 40, x.shape[1], 16)
    return y[3:].clone()
"""
BOUNDS = """def kernel(y_ptr, x, rows, cols, N: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * cols + j, mask=j < cols, other=0.0)
    tl.store(y_ptr + row + 1, tl.sum(v))


def forward(x):
    y = torch.zeros(x.shape[0])
    kernel[(x.shape[0],)](y, x, *x.shape, N=16)
    return y
"""
TWO_LAYOUTS = """def kernel(y, x, held, cols, N: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * cols + j, mask=j < cols, other=0.0)
    tl.store(held + row * N + j, v)
    {}
    tl.store(y + row, tl.sum(tl.load(held + row * N + N - 1 - j)))


def forward(x):
    y = torch.empty(x.shape[0])
    kernel[(x.shape[0],)](y, x, torch.zeros(x.shape[0], 256), x.shape[1], N=256)
    return y
"""
POINTERS = """def kernel(y, pointers, cols, N: tl.constexpr):
    j = tl.arange(0, N)
    x = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + j, mask=j < cols, other=0.0)))


def forward(x):
    y = torch.empty(x.shape[0])
    pointers = torch.tensor([int(row.data_ptr()) for row in x])
    kernel[(x.shape[0],)](y, pointers, x.shape[1], N=16)
    return y
"""

DESCRIPTOR = """def kernel(y, x, N: tl.constexpr):
    row = tl.program_id(0)
    tl.store(y + row, tl.sum(x.load([row, 0])))


def forward(x):
    from triton.tools.tensor_descriptor import TensorDescriptor
    y = torch.empty(x.shape[0])
    kernel[(x.shape[0],)](y, TensorDescriptor.from_tensor(x, [1, 4]), 4)
    return y
"""
REFUSED = {
    "kernel makes pointers of integers, which only a GPU runs": POINTERS,
    "x is a tensor descriptor, which only a GPU takes": DESCRIPTOR,
}


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def trial(text: str, device: PythonDevice, folder: Path) -> Trial:
    try:
        return trial_of(folder, "mine", BEGIN + text, device)
    except MissingError as error:
        pytest.skip(str(error))


def test_a_launch_takes_what_triton_takes(device: PythonDevice, tmp_path: Path) -> None:
    """Views that begin inside of their storage, of any strides; None, tuples, numbers, bools and constants."""
    found = trial(ARGUMENTS, device, tmp_path)
    assert found.defects == ()
    assert found.elements == 3


def test_a_finding_names_the_line_the_array_and_the_program(device: PythonDevice, tmp_path: Path) -> None:
    found = trial(BOUNDS, device, tmp_path)
    bound = next(one for one in found.errors if one.kind == "out-of-bounds")
    assert bound.line == 12
    assert bound.message.startswith("program 2 writes y_ptr[3]; y_ptr is f32[3]")


@pytest.mark.parametrize(("between", "kinds"), [("pass", {"race"}), ("tl.debug_barrier()", set[str]())])
def test_elements_in_two_layouts_need_a_barrier(
    between: str, kinds: set[str], device: PythonDevice, tmp_path: Path
) -> None:
    found = trial(TWO_LAYOUTS.format(between), device, tmp_path)
    assert {one.kind for one in found.defects} - {"numeric", "stateful"} == kinds
    assert all("tl.debug_barrier()" in one.message for one in found.defects if one.kind == "race")
    assert bool(found.errors) == bool(kinds)


@pytest.mark.parametrize("words", REFUSED)
def test_what_only_a_gpu_runs_is_one_line(words: str, device: PythonDevice, tmp_path: Path) -> None:
    """Addresses mean nothing in the process that runs the kernel: each would be an access to no array."""
    with pytest.raises(ClaimError, match=words):
        trial(REFUSED[words], device, tmp_path)
