"""What compiled host code is called with by TVM FFI: tensors on a GPU, wherever they stand."""

from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch")
tvm_ffi = pytest.importorskip("tvm_ffi")

from kfuzz.devices.python.extensions import CALLS  # noqa: E402  as the next one
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


def test_a_tensor_begins_where_one_of_a_gpu_does_unless_another_shares_its_memory() -> None:
    """Host code that is compiled for multiples of 128 bytes refuses a tensor at 64, where torch's on a CPU begin."""
    alone = [torch.arange(7.0) + number for number in range(8)]
    for number, one in enumerate(alone):
        as_on_gpu_of_ffi(one)
        assert one.data_ptr() % 256 == 0
        assert one.tolist() == [number + place for place in range(7)]
    every = [torch.zeros(7) for _ in range(64)]
    lent = next(one for one in every if one.data_ptr() % 256)
    with CALLS.watch(CALLS.probe, 0, 0, names={lent.data_ptr(): "x"}):
        at = lent.data_ptr()
        as_on_gpu_of_ffi(lent)
    assert lent.data_ptr() == at, "kfuzz reads what is written there"
    whole = torch.arange(100.0)
    part = whole[1:]
    as_on_gpu_of_ffi(part)
    assert part.data_ptr() == whole.data_ptr() + 4
