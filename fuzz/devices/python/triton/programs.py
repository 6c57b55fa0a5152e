"""Triton's own interpreter with checked memory: each load and store, element by element. Needs no GPU.

It uses private parts of Triton, so it begins with a launch of known answers (selfcheck.py), and each launch checks that
it is watched. Of the files that import triton, this is the one that other files use.
"""

import ctypes
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np
import torch
import triton
from numpy.typing import NDArray
from triton import language as tl
from triton.runtime import interpreter

from kfuzz.devices import DeviceError, Finding, MissingError
from kfuzz.devices.memory.layout import OUTPUT, POISONS
from kfuzz.devices.python.triton import bfloat16, float8, operators, selfcheck, without_gpu
from kfuzz.kinds import Kind
from kfuzz.oracle.numbers.plural import plural

TESTED = "3.6 to 3.9"
"""Versions whose interpreters kfuzz's tests have run."""
UNDEFINED = 113
"""The value of a masked lane of integers if the load gives no other."""
Bits = NDArray[Any]


@dataclass(frozen=True)
class Storage:
    """The memory of a tensor that a launch takes."""

    start: int
    nbytes: int
    name: str


@dataclass
class Programs:
    """The accesses of the programs of one call; `findings` grow with every launch."""

    names: dict[int, str]
    """Names of the lent arrays, by their addresses."""
    word: int
    file: str
    findings: list[Finding] = field(default_factory=list)
    storages: list[Storage] = field(default_factory=list)
    accessed: dict[tuple[int, int], tuple[Bits, Bits]] = field(default_factory=dict)
    """By storage and element size: the programs that wrote and read each element last."""
    is_ordered: bool = False
    """Atomics may order programs: then their other accesses are not judged as races."""
    makes_pointers: bool = False

    def begin(self, tensors: list[torch.Tensor]) -> None:
        """Begin a launch; everything before it is ordered before it."""
        every = {one.untyped_storage().data_ptr(): one for one in tensors}
        self.storages = sorted(
            (
                Storage(
                    start, one.untyped_storage().nbytes(), self.names.get(start, f"a tensor of shape {list(one.shape)}")
                )
                for start, one in every.items()
            ),
            key=lambda storage: storage.start,
        )
        self.accessed, self.is_ordered, self.makes_pointers = {}, False, False

    def allowed_lanes(self, pointers: Bits, mask: Bits, size: int, is_write: bool, new: Bits | None) -> Bits:
        """The lanes that access the launch's tensors; the others are reported and left out."""
        mask = np.broadcast_to(mask, pointers.shape)
        lanes = pointers[mask].astype(np.int64)
        if not lanes.size:
            return mask
        starts = np.array([one.start for one in self.storages], np.int64)
        ends = np.array([one.start + one.nbytes for one in self.storages], np.int64)
        which = np.searchsorted(starts, lanes, "right") - 1
        inside = (which >= 0) & (lanes + size <= ends[np.maximum(which, 0)]) if len(starts) else lanes < 0
        if self.makes_pointers and not inside.all():
            return mask  # the pointer may come from anywhere, so its memory is unknown
        if not inside.all():
            self._outside(lanes[~inside], which[~inside], size, is_write)
        values = None if new is None else np.broadcast_to(new, pointers.shape)[mask][inside]
        for place in np.unique(which[inside]):
            self._inside(self.storages[place], lanes[inside], which[inside] == place, size, is_write, values)
        good = mask.copy()
        good[mask] = inside
        return good

    def _outside(self, lanes: Bits, which: Bits, size: int, is_write: bool) -> None:
        near = self.storages[max(int(which[0]), 0)] if self.storages else Storage(0, 0, "anything")
        index = (int(lanes[0]) - near.start) // size
        message = f"{verb(is_write)} {near.name}[{index}], which has {plural(near.nbytes // size, 'element')}"
        self._report("out-of-bounds", message, near.name, index, len(lanes))

    def _inside(self, storage: Storage, lanes: Bits, chosen: Bits, size: int, is_write: bool, new: Bits | None) -> None:
        at = (lanes[chosen] - storage.start) // size
        count = storage.nbytes // size + 1
        writers, readers = self.accessed.setdefault(
            (storage.start, size), (np.zeros(count, np.int64), np.zeros(count, np.int64))
        )
        me = self._program()
        if not is_write and size == 4 and self.word == POISONS[0]:
            self._poison(storage, at)
        others = (writers[at] > 0) & (writers[at] != me)
        if is_write:
            others |= (readers[at] > 0) & (readers[at] != me)
            held = memory_of(storage, size)[at]
            if new is not None:
                others &= held != new[chosen].view(held.dtype)  # writing the same value again changes nothing
        if others.any() and not self.is_ordered:
            first = int(at[others][0])
            message = f"{verb(is_write)} {storage.name}[{first}], which another program accesses too, in no order"
            self._report("race", message, storage.name, first, int(others.sum()))
        (writers if is_write else readers)[at] = me

    def _poison(self, storage: Storage, at: Bits) -> None:
        """Report a read of memory that still holds kfuzz's poison: a NaN with a payload, which no computation gives."""
        unset = memory_of(storage, 4)[at] == np.uint32(self.word + OUTPUT)
        if unset.any():
            first = int(at[unset][0])
            message = f"reads {storage.name}[{first}], which no program has written"
            self._report("uninitialised", message, storage.name, first, int(unset.sum()))

    def _program(self) -> int:
        builder = interpreter.interpreter_builder
        (x, y, z), (_, rows, depth) = builder.grid_idx, builder.grid_dim
        return int((x * rows + y) * depth + z + 1)

    def _report(self, kind: Kind, message: str, array: str, index: int, count: int) -> None:
        line = self._line()
        if any((one.kind, one.line, one.array) == (kind, line, array) for one in self.findings):
            return
        x, y, z = (int(one) for one in interpreter.interpreter_builder.grid_idx)
        text = f"program ({x}, {y}, {z}) {message}"
        self.findings.append(
            Finding(kind, text, line=line, array=array, index=index, block=(x, y, z), step=0, count=count)
        )

    def _line(self) -> int | None:
        """The line of the kernel that is being run."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        return frame.f_lineno if frame is not None else None


def verb(is_write: bool) -> str:
    return "writes" if is_write else "reads"


def memory_of(storage: Storage, size: int) -> Bits:
    """A storage as integers of so many bytes."""
    whole: Bits = np.ctypeslib.as_array((ctypes.c_ubyte * storage.nbytes).from_address(storage.start))
    return whole[: storage.nbytes // size * size].view(f"u{size}")


class Watch:
    """The interpreter's loads and stores, in the place of its own; `programs` is the one that looks at present."""

    def __init__(self) -> None:
        self.programs = Programs({}, 0, "")
        """Also what runs outside of all calls is looked at: a write out of bounds would end this process."""
        bfloat16.install()
        float8.install()
        without_gpu.install()
        operators.install()
        builder, grid = interpreter.InterpreterBuilder, interpreter.GridExecutor
        self._real = {name: getattr(builder, name) for name in ("create_masked_load", "create_masked_store")}
        self._launch = grid.__call__

        def load(*given: Any) -> Any:  # noqa: ANN401  Triton has no types for it
            return self._load(*given)

        def store(*given: Any) -> Any:  # noqa: ANN401  Triton has no types for it
            return self._store(*given)

        def launch(*given: Any, **named: Any) -> Any:  # noqa: ANN401  Triton has no types for it
            return self._run_launch(*given, **named)

        builder.create_masked_load, builder.create_masked_store, grid.__call__ = load, store, launch
        for name in ("create_atomic_rmw", "create_atomic_cas"):
            setattr(builder, name, self._mark_calls(getattr(builder, name), "is_ordered"))
        builder.create_int_to_ptr = self._mark_calls(builder.create_int_to_ptr, "makes_pointers")
        self._ours = load

    @contextmanager
    def findings(self) -> Iterator[list[Finding]]:
        """The findings of launches that no call makes."""
        with self.watch({}, 0, selfcheck.__file__) as programs:
            yield programs.findings

    @contextmanager
    def watch(self, names: dict[int, str], word: int, file: str) -> Iterator[Programs]:
        """Watch the programs of one call."""
        self.programs, before = Programs(names, word, file), self.programs
        try:
            yield self.programs
        finally:
            self.programs = before

    def _run_launch(self, executor: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401
        if interpreter.InterpreterBuilder.create_masked_load is not self._ours:
            raise DeviceError("Triton's interpreter is not looked at: something has replaced its loads and stores")
        self.programs.begin(list(tensors_in((*given, *named.values()))))
        return self._launch(executor, *given, **named)

    def _load(self, builder: Any, pointers: Any, mask: Any, other: Any, *rest: Any) -> Any:  # noqa: ANN401
        element = pointers.get_element_ty()
        dtype, size = interpreter._get_np_dtype(element), element.primitive_bitwidth // 8 or 1
        good = self.programs.allowed_lanes(np.asarray(pointers.data), lanes_of(mask), size, False, None)
        mask = interpreter.TensorHandle(good, tl.int1)
        if other is None and not good.all():  # undefined, and 0 only here
            other = interpreter.TensorHandle(undefined_values(pointers.data.shape, dtype), element)
        return self._real["create_masked_load"](builder, pointers, mask, other, *rest)

    def _store(self, builder: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:  # noqa: ANN401
        data = bfloat16.narrow(value.data) if bfloat16.is_bfloat16(pointers) else np.asarray(value.data)
        good = self.programs.allowed_lanes(np.asarray(pointers.data), lanes_of(mask), data.dtype.itemsize, True, data)
        mask = interpreter.TensorHandle(good, tl.int1)
        return self._real["create_masked_store"](builder, pointers, value, mask, *rest)

    def _mark_calls(self, real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def marked(*given: Any, **named: Any) -> Any:  # noqa: ANN401
            setattr(self.programs, name, True)
            return real(*given, **named)

        return marked


def lanes_of(mask: Any) -> Bits:  # noqa: ANN401  Triton has no types for it
    """A mask's elements: a block pointer's mask is an array and no value of the interpreter, and integers will do."""
    return np.asarray(mask if isinstance(mask, np.ndarray) else mask.data).astype(np.bool_)


def tensors_in(given: Iterable[object]) -> Iterator[torch.Tensor]:
    """The tensors among a launch's arguments: also in tuples, in descriptors, and of another type than they were."""
    for one in given:
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, tuple | list):
            yield from tensors_in(one)
        elif (base := getattr(one, "base", None)) is not None:
            yield from tensors_in((base,))


def undefined_values(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Bits:
    """The values of masked lanes: a NaN, or an arbitrary number."""
    return np.full(shape, np.nan if np.issubdtype(dtype, np.floating) else UNDEFINED, dtype)


def watch_programs() -> Watch:
    """Look at Triton's interpreter from now on; MissingError if the installed version has another one."""
    wanted = f"without a GPU kfuzz looks into Triton's interpreter: install triton {TESTED}, or use a GPU"
    try:
        made = Watch()
        failing = selfcheck.failing_check(made.findings)
    except Exception as error:  # the interpreter is private to Triton: another version may fail in any way
        reason = f"triton {triton.__version__} has an interpreter that kfuzz does not know"
        raise MissingError(f"{reason} ({type(error).__name__}: {error}); {wanted}") from error
    if failing:
        raise MissingError(f"triton {triton.__version__} fails kfuzz's check of its interpreter ({failing}); {wanted}")
    return made


WATCH = watch_programs()
