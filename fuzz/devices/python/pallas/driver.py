"""Pallas without a GPU: each call of a kernel is lowered as for a GPU, compiled by Triton, and run on the cpu device.

Without jax.jit, so that all else runs one operation after the other, and what a launch raises reaches the caller.
Installed once, before a file is imported, after Triton's driver. Knows JAX's arrays; lowering.py knows its kernels.
"""

import functools
from collections.abc import Callable, Sequence
from typing import NoReturn

import jax
import numpy as np
from jax._src.pallas.mpmd import mpmd_map_p
from jax._src.pallas.pallas_call import pallas_call_p
from numpy.typing import NDArray

from kfuzz.devices import Finding
from kfuzz.devices.memory.layout import OUTPUT
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.imitated_gpu import GPU
from kfuzz.devices.python.launched.arguments import ArrayMemory, LaunchArguments
from kfuzz.devices.python.launched.kernels import run_launch
from kfuzz.devices.python.pallas import lowering
from kfuzz.devices.python.pallas.compiling import DIVISIBLE, TritonCode, compile_code
from kfuzz.devices.python.pallas.lowering import PallasValue
from kfuzz.devices.python.triton import driver
from kfuzz.devices.python.triton.launches import add_scratch, as_launched
from kfuzz.oracle.numbers.elements import U32, element_of_dtype

BITS_OF_BYTE = 8
PallasCall = Callable[..., PallasValue]
HostArray = NDArray[np.generic]


def install() -> None:
    """Run each kernel on the cpu device where JAX would say that it needs a GPU."""
    driver.install()
    lowering.install()
    jax.config.update("jax_disable_jit", True)
    jax.config.update("jax_traceback_filtering", "off")  # an exception says in which module of JAX it was raised
    pallas_call_p.def_impl(unless_interpreted(pallas_call_p.impl, run))
    mpmd_map_p.def_impl(unless_interpreted(mpmd_map_p.impl, refuse_mesh))


def unless_interpreted(call: PallasCall, instead: PallasCall) -> PallasCall:
    """A call by JAX itself if the file says `interpret`, and another one if not."""

    @functools.wraps(call)
    def run_or_interpret(*given: PallasValue, **about: PallasValue) -> PallasValue:
        return (call if about["interpret"] else instead)(*given, **about)

    return run_or_interpret


def refuse_mesh(*_: PallasValue, **__: PallasValue) -> NoReturn:
    """Refuse a kernel over a mesh: only Mosaic compiles it."""
    lowering.refuse("a kernel over a mesh is Mosaic's, and the cpu device runs what Triton compiles: use pallas_call")


def run(*given: PallasValue, **about: PallasValue) -> list[PallasValue]:
    """The results of a call: arrays that the kernel has filled, or that it was given and has changed."""
    code = lowering.lower_call(given, about)
    for one in (*given, *about["out_avals"]):
        if jax.dtypes.itemsize_bits(one.dtype) < BITS_OF_BYTE:
            lowering.refuse(f"arrays of {one.dtype}, several of which share a byte on a GPU")
    changed = {out: number for number, out in about["input_output_aliases"]}
    before = [np.asarray(one) for one in given]
    inputs = [aligned(one) for one in before]
    outputs = [
        inputs[changed[number]] if number in changed else unset(one.shape, one.dtype)
        for number, one in enumerate(about["out_avals"])
    ]
    names = names_of(about["jaxpr"])
    launch(code, [*inputs, *outputs], names)
    for number in set(range(len(inputs))) - set(changed.values()):
        note_change(names[number], before[number], inputs[number])
    return [jax.numpy.array(one, copy=True) for one in outputs]


def launch(code: TritonCode, arrays: Sequence[HostArray], names: Sequence[str]) -> None:
    """Run a kernel, which reads and writes these arrays."""
    kernel = compile_code(code, GPU.target)
    made = LaunchArguments()
    for name, array in zip(names, arrays, strict=True):
        memory = ArrayMemory(array.ctypes.data, array.nbytes)
        made.add_array(name, memory, element_of_dtype(array.dtype) or U32, memory.start)
    add_scratch(made, kernel, code.grid)
    run_launch(as_launched(kernel, code.grid), made)


def note_change(name: str, before: HostArray, after: HostArray) -> None:
    """Note that a kernel has written to an input: JAX takes its arrays to stay as they are."""
    changed = np.flatnonzero(bytes_of(before) != bytes_of(after))
    if CALLS.word and len(changed):
        index = int(changed[0]) // before.itemsize
        message = f"{name} is an input, and element {index} was changed: input_output_aliases says which ones may be"
        CALLS.findings.append(Finding("input-changed", message, array=name, index=index))


def bytes_of(array: HostArray) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def names_of(jaxpr: PallasValue) -> tuple[str, ...]:
    """The names of a kernel's parameters, as its author wrote them."""
    return tuple(getattr(jaxpr.debug_info, "arg_names", ()))


def aligned(array: HostArray) -> HostArray:
    """A copy that begins where a GPU's memory may."""
    made = room_for(array.nbytes)[: array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def unset(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> HostArray:
    """An array that holds nothing yet: the poison of the call that is watched."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    whole = room_for(nbytes)
    whole.view("<u4")[...] = np.uint32(CALLS.word + OUTPUT if CALLS.word else 0)
    return whole[:nbytes].view(dtype).reshape(shape)


def room_for(nbytes: int) -> NDArray[np.uint8]:
    """Memory of whole words for so many bytes."""
    most = -(-nbytes // DIVISIBLE) * DIVISIBLE
    held = np.zeros(most + DIVISIBLE, np.uint8)
    return held[-held.ctypes.data % DIVISIBLE :][:most]
