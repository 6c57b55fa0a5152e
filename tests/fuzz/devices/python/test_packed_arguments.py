"""The arguments of a launch from their bytes: what the kernel loads whole may be an array, the rest is numbers."""

import ctypes
import re
import struct

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kfuzz.devices import UnsupportedError  # noqa: E402  it imports torch
from kfuzz.devices.python.launched.arguments import LaunchArguments  # noqa: E402
from kfuzz.devices.python.launched.packed import EncodedMaps, unpack_arguments  # noqa: E402
from kfuzz.devices.python.torch.addresses import ADDRESSES  # noqa: E402
from kfuzz.devices.python.torch.handing_over import ON_GPU, CapsuleHead, TensorOnGpu, get_pointer  # noqa: E402

MODULE = """
.version 8.8
.target sm_90a
.address_size 64
.visible .entry f(.param .align 8 .b8 tensor[16], .param .f32 scale, .param {map} .b8 more[{bytes}])
{{
  .reg .b64 %a<4>;
  .reg .b32 %r<4>;
  ld.param.b64 %a1, [tensor];
  ld.param.b32 %r1, [tensor+8];
  {loads}
  ret;
}}
"""


def unpack(tensor: bytes, more: bytes = b"", loads: str = "", aligned: str = ".align 8") -> LaunchArguments:
    given = [ctypes.create_string_buffer(one, len(one)) for one in (tensor, struct.pack("f", 2.5), more or bytes(8))]
    text = MODULE.format(map=aligned, bytes=len(given[2]), loads=loads)
    return unpack_arguments(text, "f", [ctypes.addressof(one) for one in given], EncodedMaps(), ADDRESSES)


def test_a_word_beside_a_narrow_one_is_no_address_whatever_the_host_left_there() -> None:
    """CuTe DSL passes a pointer and 32 bits of a size; the other 32 bits were those of an older pointer."""
    x = torch.zeros(6)
    address = ADDRESSES.note(x[2:])
    made = unpack(struct.pack("qq", address, address))
    assert list(made.buffers) == ["argument 1"]
    assert made.values == ["argument 1", 8, address, 0x40200000, 0]
    assert made.buffers["argument 1"].shape == (6,)


@pytest.mark.parametrize("loads", ["ld.param.v2.b64 {%a2, %a3}, [more];", "mov.b64 %a2, more;"])
def test_a_word_of_a_vector_or_of_what_is_reached_by_its_address_may_be_an_array(loads: str) -> None:
    x = torch.zeros(6, dtype=torch.float16)
    made = unpack(struct.pack("qq", 0, 5), struct.pack("qq", 7, ADDRESSES.note(x)), loads)
    assert [one.element.name for one in made.buffers.values()] == ["f16"]
    assert made.values == [0, 5, 0x40200000, 7, "argument 3", 0]


def test_what_a_gpu_alone_reads_is_refused_in_one_line() -> None:
    unknown = ctypes.create_string_buffer(64)
    with pytest.raises(UnsupportedError, match="argument 1 of a launch is an address of memory that is no tensor's"):
        unpack(struct.pack("qq", ctypes.addressof(unknown), 0))
    with pytest.raises(UnsupportedError, match=re.escape("argument 3 of a launch is a tensor map (TMA)")):
        unpack(bytes(16), bytes(128), aligned=".align 64")


def test_a_tensor_that_is_handed_over_is_on_a_gpu_and_its_address_is_known() -> None:
    x = torch.zeros(3, 5)
    capsule = TensorOnGpu(x[1:]).__dlpack__(stream=-1)
    head = CapsuleHead.from_address(get_pointer(capsule, b"dltensor"))
    assert (head.data, head.device) == (x[1:].data_ptr(), ON_GPU)
    memory = ADDRESSES.find(x[1:].data_ptr())
    assert memory is not None
    assert memory.start == x.data_ptr()


def test_memory_that_is_lent_again_is_that_of_the_last_tensor() -> None:
    """A graph held the tensor of an earlier trial: a kernel was accused of what it read past that one."""
    held = np.zeros(8, np.float32)
    small, large = torch.from_numpy(held[:2]), torch.from_numpy(held)
    words = np.array([3, held.ctypes.data, 5], np.int64)
    for one, nbytes in ((small, 8), (large, 32), (small, 8)):
        address = ADDRESSES.note(one)
        memory = ADDRESSES.find(address)
        assert memory is not None
        assert memory.nbytes == nbytes
        assert list(ADDRESSES.find_in(words)) == [(1, memory)]
