"""What compiled host code is called with by TVM FFI: tensors on a GPU, wherever they stand."""

from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch")
tvm_ffi = pytest.importorskip("tvm_ffi")

from kfuzz.devices.python.torch.ffi_tensors import as_on_gpu_of_ffi  # noqa: E402  it imports torch


class Pair(NamedTuple):
    """A tuple with names, as files pass their own."""

    tensors: list[object]
    number: int


def test_tensors_in_a_named_tuple_are_on_a_gpu() -> None:
    (one,), number = as_on_gpu_of_ffi(Pair([torch.ones(3)], 5))
    assert (one.device.type, number) == ("cuda", 5)


def test_a_parameter_of_an_autograd_function_is_passed_as_it_is() -> None:
    assert as_on_gpu_of_ffi(torch.ones(3, requires_grad=True)).device.type == "cuda"
