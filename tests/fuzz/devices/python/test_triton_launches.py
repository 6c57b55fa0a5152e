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
    kernel[(torch.tensor(x.shape[0]),)](y, x, torch.zeros(x.shape[0], 256), x.shape[1], N=256)
    return y
"""
POINTERS = """def kernel(y, pointers, cols, N: tl.constexpr):
    j = tl.arange(0, N)
    x = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + j, mask=j < cols, other=0.0)))


def forward(x):
    y = torch.empty(x.shape[0])
    pointers = torch.arange(x.shape[0]) * 16
    kernel[(x.shape[0],)](y, pointers, x.shape[1], N=16)
    return y
"""
ADDRESS = """def kernel(y, address, cols, N: tl.constexpr):
    j = tl.arange(0, N)
    x = address.to(tl.pointer_type(tl.float32)) + cols * tl.program_id(0)
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + j, mask=j < cols, other=0.0)))


def forward(x):
    y = torch.empty(x.shape[0])
    kernel[(x.shape[0],)](y, x.data_ptr(), x.shape[1], N=16)
    return y
"""
PLACES = """def kernel(y, x, held, other, cols, N: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * cols + j, mask=j < cols, other=0.0)
    place = (held.to(tl.int64) | other.to(tl.int64)) % 256
    tl.store(y + row, tl.sum(v) + place.to(tl.float32))


def forward(x):
    y = torch.empty(x.shape[0])
    kernel[(x.shape[0],)](y, x, torch.ones(16), torch.ones(80), x.shape[1], N=16)
    return y
"""
RAN = """def kernel(y, x, cols, N: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * cols + j, mask=j < cols, other=0.0)
    tl.device_assert(cols < 100)
    tl.device_print("v", v)
    v = tl.inline_asm_elementwise("add.f32 $0, $1, $2;", "=f,f,f", [v, v], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(y + row, tl.sum(libdevice.fma(v, 0.5, libdevice.copysign(0.0, v))))


from triton.language.extra import libdevice


def forward(x):
    first, second, third = torch.empty(3, x.shape[0]).unbind()
    made = kernel.warmup(first, x, x.shape[1], 16, grid=(1,), num_warps=2)
    made._init_handles()
    assert made.n_regs and not made.n_spills
    made[(x.shape[0], 1, 1)](first, x, x.shape[1], 16)
    kernel.run(second, x, x.shape[1], 16, grid=(x.shape[0],), warmup=False)
    made = kernel[(x.shape[0],)](third, x, x.shape[1], N=16, num_warps=1, num_stages=2)
    assert made.metadata.num_warps == 1 and "ptx" in made.asm
    return (first + second + third) / 3
"""
TWO_BLOCKS = """def kernel(y, x, n, N: tl.constexpr):
    j = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + j, tl.load(x + j, mask=j < n, other=0.0) * 2, mask=j < n)


def forward(x):
    y = torch.empty_like(x)
    kernel[(3,)](y, x, x.numel(), 256, num_ctas=2)
    return y.sum(1) / 2
"""
HOOKS = """def kernel(y, x, cols, N: tl.constexpr, EVEN: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * cols + j) if EVEN else tl.load(x + row * cols + j, mask=j < cols, other=0.0)
    tl.atomic_add(y + row, tl.sum(v))


def clear(args, reset_only=False):
    args["y"].zero_()


kernel = triton.heuristics({"EVEN": lambda args: args["cols"] % args["N"] == 0})(kernel)
configurations = [triton.Config({"N": 16}, num_warps=1, pre_hook=clear), triton.Config({"N": 32}, pre_hook=clear)]
kernel = triton.autotune(configurations, key=["cols"])(kernel)


def forward(x):
    y = torch.empty(x.shape[0])
    kernel[(x.shape[0],)](y, x, x.shape[1])
    return y
"""
NOT_ALL_COMPILE = """def kernel(y, x, cols, N: tl.constexpr):
    tl.static_assert(N == 16, "another width")
    row, j = tl.program_id(0), tl.arange(0, N)
    tl.store(y + row, tl.sum(tl.load(x + row * cols + j, mask=j < cols, other=0.0)))


configurations = [triton.Config({"N": 16}), *(triton.Config({"N": 32 << place}) for place in range(9))]
kernel = triton.autotune(configurations, key=["cols"])(kernel)


def forward(x):
    y = torch.empty(x.shape[0])
    kernel[(x.shape[0],)](y, x, x.shape[1])
    return y
"""
PRODUCTS = """def kernel(y, x, rows, cols, N: tl.constexpr, T: tl.constexpr):
    i, j, k = tl.arange(0, 16), tl.arange(0, N), tl.arange(0, 16)
    v = tl.load(x + i[:, None] * cols + j[None, :], mask=(i[:, None] < rows) & (j[None, :] < cols), other=0.0).to(T)
    s = tl.dot(v, tl.full((N, 16), 1.0, tl.float32).to(T), input_precision="tf32")
    tl.store(y + i, tl.sum(tl.where(k[None, :] == 0, s, 0.0), axis=1), mask=i < rows)


def forward(x):
    y, x = torch.empty(x.shape[0]), x * 0 + 2.0
    for kind in (tl.float32, tl.float8e4nv, tl.float8e5):
        kernel[(1,)](y, x, *x.shape, 32, kind)
        assert y.tolist() == [8.0] * 3, kind
    return torch.linspace(-3, 3, 12).reshape(3, 4).sum(1)
"""
TUNED_BY_A_MODEL = """def kernel(y, x, cols, N: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, N)
    tl.store(y + row, tl.sum(tl.load(x + row * cols + j, mask=j < cols, other=0.0)))


def forward(x):
    most = triton.testing.get_max_tensorcore_tflops(torch.float16, triton.testing.nvsmi(["clocks.max.sm"])[0] * 1e3)
    assert 500 < most < 600, most
    y = torch.empty(x.shape[0])
    kernel[(x.shape[0],)](y, x, x.shape[1], 16)
    return y
"""
RIGHT = {
    "an address as a number": ADDRESS,
    "tensors of its own that lie as on a GPU": PLACES,
    "warmup, run, and what a kernel prints, asserts and calls": RAN,
    "clusters": TWO_BLOCKS,
    "hooks of a tuning": HOOKS,
    "what is computed from the clock of the GPU": TUNED_BY_A_MODEL,
    "a tuning of which few configurations compile": NOT_ALL_COMPILE,
    "products of tf32 and of 8 bits": PRODUCTS,
}
REFUSED = {
    "kernel makes pointers of integers, none of which is an address": POINTERS,
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


@pytest.mark.parametrize("what", RIGHT)
def test_what_programs_launch_runs(what: str, device: PythonDevice, tmp_path: Path) -> None:
    found = trial(RIGHT[what], device, tmp_path)
    assert found.defects == ()
    assert found.elements == 3


@pytest.mark.parametrize("words", REFUSED)
def test_what_only_a_gpu_runs_is_one_line(words: str, device: PythonDevice, tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match=words):
        trial(REFUSED[words], device, tmp_path)
