"""CuTe DSL without a GPU: a launch runs what the DSL compiled, on the tensors of the file's own function."""

import re
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


DOUBLE = """import cutlass
import cutlass.cute as cute
import cutlass.utils as utils
import torch
from cutlass.cute.nvgpu import cpasync
from cutlass.cute.runtime import from_dlpack

ROWS, COLS = 8, 32


@cute.kernel
def kernel(load: cute.CopyAtom, x: cute.Tensor, store: cute.CopyAtom, y: cute.Tensor, layout: cute.Layout):
    tid, _, _ = cute.arch.thread_idx()
    at, _, _ = cute.arch.block_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    smem = utils.SmemAllocator()
    bar = smem.allocate_array(cutlass.Int64, 1)
    tile = smem.allocate_tensor(cutlass.Float32, layout, 128)
    if tid == 0:
        cute.arch.mbarrier_init(bar, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    whole = cute.group_modes(tile, 0, 2)
    parts = [cute.group_modes(cute.local_tile(one, (ROWS, COLS), (at, 0)), 0, 2) for one in (x, y)]
    to, given = cpasync.tma_partition(load, 0, cute.make_layout(1), whole, parts[0])
    left, out = cpasync.tma_partition(store, 0, cute.make_layout(1), whole, parts[1])
    if warp == 0:
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(bar, ROWS * COLS * 4)
        cute.copy(load, given, to, tma_bar_ptr=bar)
    cute.arch.mbarrier_wait(bar, 0)
    for i in range(tid, ROWS * COLS, 64):
        tile[i // COLS, i % COLS] = tile[i // COLS, i % COLS] * 2
    {fence}
    cute.arch.sync_threads()
    if warp == 0:
        cute.copy(store, left, out)
        cute.arch.cp_async_bulk_commit_group()
        cute.arch.cp_async_bulk_wait_group(0, read=True)


@cute.jit
def launch(x: cute.Tensor, y: cute.Tensor):
    layout = cute.make_layout((ROWS, COLS), stride=(COLS, 1))
    load, gx = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), x, layout, (ROWS, COLS))
    store, gy = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileS2GOp(), y, layout, (ROWS, COLS))
    kernel(load, gx, store, gy, layout).launch(grid=(x.shape[0] // ROWS, 1, 1), block=(64, 1, 1))


def forward(x):
    whole = torch.ones(16, 32)
    whole[: x.shape[0], : x.shape[1]] = x
    y = torch.zeros_like(whole)
    given = [from_dlpack(one, assumed_align=16).mark_layout_dynamic(leading_dim=1) for one in (whole, y)]
    cute.compile(launch, *given)(*given)
    return y.sum(1)[: x.shape[0]] / 2 - (32 - x.shape[1])
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


@pytest.mark.parametrize("is_shared", [False, True], ids=["a tensor of its own", "part of another"])
def test_memory_at_multiples_of_what_a_function_asks_for_is_no_fault(
    device: PythonDevice, tmp_path: Path, is_shared: bool
) -> None:
    """torch's memory on a GPU begins at multiples of 512 bytes, and on a CPU at those of 64."""
    pytest.importorskip("tvm_ffi")
    text = ROW_SUM.format(launch="", options=', options="--enable-tvm-ffi"').replace("(*given, 3)", "(y, x, 3)")
    text = text.replace("from_dlpack(y)", "from_dlpack(torch.zeros(x.shape[0]), assumed_align=128)")
    text = text if is_shared else text.replace("held[1 : x.shape[0] + 1]", "torch.zeros(x.shape[0])")
    if is_shared:
        with pytest.raises(ClaimError, match="a tensor that begins elsewhere than it was compiled for"):
            trial_of(tmp_path, "shared", text, device)
    else:
        tried = trial_of(tmp_path, "own", text, device)
        assert [one.message for one in tried.defects] == []
        assert tried.elements == 3


def test_a_mistake_that_the_dsl_finds_is_one_line_without_colours(device: PythonDevice, tmp_path: Path) -> None:
    text = ROW_SUM.format(launch="", options="").replace("y[row] =", "y[row, 1, 2] =")
    words = refusal_of(trial_of(tmp_path, "wrong", text, device))
    assert words.startswith("without a GPU cute does not run this: ")
    assert "\x1b" not in words
    assert "\n" not in words


def test_a_name_that_this_release_lacks_is_no_fault_of_the_kernel(device: PythonDevice, tmp_path: Path) -> None:
    text = ROW_SUM.format(launch="", options="")
    in_kernel = text.replace("row, _, _ =", "cute.make_old_fragment(1)\n    row, _, _ =")
    words = refusal_of(trial_of(tmp_path, "kernel", in_kernel, device))
    assert re.fullmatch(r"cute \d[\d.]+ has no cutlass\.cute\.make_old_fragment", words)
    on_host = text.replace("given =", "from cutlass.cute.arch import OldKind\n    given =")
    assert refusal_of(trial_of(tmp_path, "host", on_host, device)).endswith("has no cutlass.cute.arch.OldKind")


def test_what_the_kernels_own_python_raises_while_it_is_compiled_is_one_line(
    device: PythonDevice, tmp_path: Path
) -> None:
    text = ROW_SUM.format(launch="", options="")
    in_kernel = text.replace("total += x[row, c]", "total += (lambda one: one)(x[row, c], 1)")
    words = refusal_of(trial_of(tmp_path, "kernel", in_kernel, device))
    assert words.startswith("cute does not compile this: ")
    wrong = trial_of(
        tmp_path, "host", text.replace("x.shape[0] + 2)", "x.shape[0] + 2, (lambda one: one)(1, 2))"), device
    )
    assert [one.kind for one in wrong.errors] == ["exception"]


def test_a_file_that_asks_for_a_b200_gets_one(device: PythonDevice, tmp_path: Path) -> None:
    text = ROW_SUM.format(launch="", options="")
    checks = "\nSEEN = torch.cuda.get_device_capability()\n\n\n@cute.kernel"
    raises = "if SEEN[0] < 10:\n        raise RuntimeError(f'it needs SM100, not SM{SEEN[0]}{SEEN[1]}')\n    held ="
    asks = text.replace("\n@cute.kernel", checks, 1).replace("held =", raises, 1)
    opened = PythonDevice()
    try:
        tried = trial_of(tmp_path, "asks", asks, opened)
        assert (tried.defects, tried.reasons, tried.elements) == ((), (), 3)
    finally:
        opened.close()


def test_an_instruction_of_a_b200_compiles(device: PythonDevice, tmp_path: Path) -> None:
    """The DSL's own words say which architectures have tcgen05."""
    made = "tcgen05.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (128, 128, 16), tcgen05.CtaGroup.ONE, "
    made += "tcgen05.OperandSource.SMEM, tcgen05.OperandMajorMode.K, tcgen05.OperandMajorMode.K)"
    text = ROW_SUM.format(launch="", options="").replace("    kernel(y", f"    {made}\n    kernel(y", 1)
    text = text.replace("import torch\n", "import torch\nfrom cutlass.cute.nvgpu import tcgen05\n")
    opened = PythonDevice()
    try:
        tried = trial_of(tmp_path, "tensor", text, opened)
        assert (tried.defects, tried.reasons, tried.elements) == ((), (), 3)
    finally:
        opened.close()


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


@pytest.mark.parametrize("fenced", [True, False])
def test_copies_by_tensor_maps_run_and_one_lane_of_a_warp_stores(
    device: PythonDevice, tmp_path: Path, fenced: bool
) -> None:
    """Each kernel with TMA was refused; then the store of 32 lanes was 31 copies over one that was in flight."""
    fence = 'cute.arch.fence_proxy("async.shared", space="cta")' if fenced else "pass"
    tried = trial_of(tmp_path, "double", DOUBLE.format(fence=fence), device)
    assert {one.kind for one in tried.defects} == (set() if fenced else {"missing-proxy-fence"})
    assert tried.elements == 3
