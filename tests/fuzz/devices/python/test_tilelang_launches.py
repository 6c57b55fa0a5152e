"""TileLang without a GPU: a launch runs nvcc's PTX, on the tensors of the file's own function."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from small_callables import trial_of

from kfuzz.devices import ClaimError, Refusal
from kfuzz.devices.python.device import PythonDevice

pytestmark = [
    pytest.mark.slow(5),
    pytest.mark.skipif(find_spec("tilelang") is None, reason="tilelang is not installed"),
]
RELU = """import tilelang
import tilelang.language as T
import torch


@tilelang.jit(out_idx=[1])
def relu_of(rows, cols, block=64, width=32):
    @T.prim_func
    def main(x: T.Tensor((rows, cols), "float32"), y: T.Tensor((rows, cols), "float32")):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as part:
            held = T.alloc_shared((block, width), "float32")
            for step in T.Pipelined(T.ceildiv(cols, width), num_stages=2):
                T.copy(x[part * block, step * width], held)
                for i, j in T.Parallel(block, width):
                    y[part * block + i, step * width + j] = T.max(held[i, j], 0.0)

    return main


def relu(x):
    made = relu_of(*x.shape)
    assert "tma_load" in made.get_kernel_source()
    return made({argument})
"""


OF_A_TABLE = """import tilelang
import tilelang.language as T
import torch


@tilelang.jit
def relu_of(rows, cols):
    @T.prim_func
    def main(table: T.Tensor[(2,), T.ptr], y: T.Tensor[(rows, cols), T.float32]):
        with T.Kernel(rows, threads=32) as row:
            x = T.make_tensor(table[{place}], (rows, cols), T.float32)
            {first}
            for j in T.Parallel(cols):
                y[row, j] = T.max(x[row, j], 0.0)

    return main


def relu(x):
    table, y = torch.tensor([0, x.data_ptr()]), torch.empty_like(x)
    relu_of(*x.shape)(table, y)
    return y
"""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def test_copies_by_tensor_maps_run(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "mine", RELU.format(argument="x"), device, "relu")
    assert [one.message for one in tried.defects] == []
    assert tried.elements == 12


def test_an_error_of_its_host_code_is_an_exception_of_the_line(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "wrong", RELU.format(argument="x.double()"), device, "relu")
    assert [(one.kind, one.line) for one in tried.defects] == [("exception", 26)]


def test_what_needs_memory_of_a_gpu_is_refused_in_one_line(device: PythonDevice, tmp_path: Path) -> None:
    text = RELU.format(argument="x").replace(
        "    made =", "    tilelang.tvm.runtime.empty((3,), device=tilelang.tvm.cuda())\n    made ="
    )
    with pytest.raises(ClaimError, match="TileLang calls cudaMemGetInfo, which the cpu device does not have"):
        trial_of(tmp_path, "memory", text, device, "relu")


def test_host_code_that_links_cudas_runtime_is_refused_in_one_line(device: PythonDevice, tmp_path: Path) -> None:
    text = RELU.format(argument="x").replace("out_idx=[1]", 'out_idx=[1], execution_backend="cython"')
    tried = trial_of(tmp_path, "other", text, device, "relu")
    assert tried.defects == ()
    (words,) = {one.words for one in tried.reasons if isinstance(one, Refusal)}
    assert "without a GPU tilelang does not run this: ValueError: Execution backend 'cython'" in words


def test_the_arrays_of_a_table_of_addresses_are_known(device: PythonDevice, tmp_path: Path) -> None:
    tried = trial_of(tmp_path, "table", OF_A_TABLE.format(place=1, first=""), device, "relu")
    assert [one.message for one in tried.defects] == []
    assert tried.elements == 12
    wrong = trial_of(tmp_path, "null", OF_A_TABLE.format(place=0, first=""), device, "relu")
    assert {one.kind for one in wrong.errors} == {"illegal-address"}


def test_a_launch_of_no_blocks_is_a_refusal_of_these_sizes(device: PythonDevice, tmp_path: Path) -> None:
    text = OF_A_TABLE.format(place=1, first="").replace("T.Kernel(rows,", "T.Kernel(rows // 64,")
    tried = trial_of(tmp_path, "none", text, device, "relu")
    assert tried.defects == ()
    (words,) = {one.words for one in tried.reasons if isinstance(one, Refusal)}
    assert words.startswith("tilelang refuses the launch: ")


def test_what_tilelang_does_not_compile_is_one_line(device: PythonDevice, tmp_path: Path) -> None:
    small = "a, c = T.alloc_shared((8, 8), T.float16), T.alloc_fragment((8, 8), T.float32)\n            T.gemm(a, a, c)"
    tried = trial_of(tmp_path, "small", OF_A_TABLE.format(place=1, first=small), device, "relu")
    assert tried.defects == ()
    (words,) = {one.words for one in tried.reasons if isinstance(one, Refusal)}
    assert words.startswith("tilelang does not compile this: ")
    option = OF_A_TABLE.format(place=1, first="").replace("@tilelang.jit", '@tilelang.jit(pass_configs={"tl.old": 1})')
    tried = trial_of(tmp_path, "option", option, device, "relu")
    assert tried.defects == ()
    (words,) = {one.words for one in tried.reasons if isinstance(one, Refusal)}
    assert words.startswith("tilelang does not compile this: AttributeError: Invalid config option 'tl.old'")
    lacks = OF_A_TABLE.format(place=1, first="").replace("T.make_tensor", "T.make_old_tensor")
    tried = trial_of(tmp_path, "lacks", lacks, device, "relu")
    assert tried.defects == ()
