"""Replies of a worker as plain data: what a process that runs somebody's code has written is never unpickled.

A reply is JSON beside arrays. It is read by the types of the fields of its dataclass, so that whatever was written, the
caller has objects of these types, or a ForeignBytesError. Knows types; never what a reply means.
"""

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from kfuzz.devices.worker.pipes import pack_parts

T = TypeVar("T")
MOST_HEAD = 64 << 20
"""Bytes of a reply without its arrays."""
MOST_TEXT = 20_000
"""Characters of one text in it: a refusal may quote a compiler."""


class LongText(str):
    """A text in a reply that may be longer, such as the source of a kernel."""

    __slots__ = ()


class ForeignBytesError(Exception):
    """In the pipe of a process lies what another than kfuzz has written: a file that writes to all open files, say."""


def pack_plain(reply: object) -> list[bytes | memoryview]:
    """A reply, ready to be written."""
    arrays: list[NDArray[np.generic]] = []
    head = json.dumps(_encode(reply, arrays)).encode()
    return pack_parts(head, arrays)


def _encode(value: Any, arrays: list[NDArray[np.generic]]) -> Any:  # noqa: ANN401  what JSON has
    if value is None or type(value) in (bool, int, float, str, LongText):
        return value
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, np.ndarray):
        arrays.append(np.ascontiguousarray(value))
        dtype = value.dtype.str if value.dtype.names is None else [list(one) for one in value.dtype.descr]
        return {"dtype": dtype, "shape": list(value.shape)}
    if dataclasses.is_dataclass(value):
        found = {}
        for field in dataclasses.fields(value):
            one = getattr(value, field.name)
            if one is not field.default:
                found[field.name] = _encode(one, arrays)
        return found
    if isinstance(value, dict):
        return [[_encode(key, arrays), _encode(one, arrays)] for key, one in value.items()]
    if isinstance(value, tuple | list):
        return [_encode(one, arrays) for one in value]
    if isinstance(value, np.generic | int | float | str):
        return _encode(value.item() if isinstance(value, np.generic) else type(value).__mro__[-2](value), arrays)
    raise TypeError(f"{type(value).__name__} is no part of a reply")


def read_plain(read: Callable[[int], bytes | bytearray], kinds: Sequence[Any], most: int) -> Any:  # noqa: ANN401
    """What was written, as the first of these types that it fits, with at most so many bytes of arrays.

    ForeignBytesError if it fits none of them.
    """
    left = most

    def size(bound: int) -> int:
        found = int.from_bytes(read(8), "little")
        if found > bound:
            raise ForeignBytesError
        return found

    head = bytes(read(size(MOST_HEAD)))
    arrays = []
    for _ in range(size(1 << 16)):
        arrays.append(read(size(left)))
        left -= len(arrays[-1])
    try:
        data = json.loads(head)
    except (ValueError, RecursionError):
        raise ForeignBytesError from None
    for kind in kinds:
        try:
            return _decode(kind, data, iter(arrays))
        except (ValueError, TypeError, KeyError, RecursionError, StopIteration, OverflowError):
            continue
    raise ForeignBytesError


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _decode(kind: Any, data: Any, arrays: Iterator[bytes | bytearray]) -> Any:  # noqa: ANN401, PLR0912
    """Data as this type; any of the errors that `read_plain` knows if it is not of this type."""
    origin, given = typing.get_origin(kind), typing.get_args(kind)
    if kind is None or kind is types.NoneType:
        return _expect(data is None, None)
    if kind is float:
        return float(_expect(type(data) in (int, float), data))
    if kind in (bool, int):
        return _expect(type(data) is kind, data)
    if kind in (str, LongText):
        return _expect(type(data) is str and (len(data) <= MOST_TEXT or kind is LongText), data)
    if origin is Literal:
        return _expect(type(data) in (str, int) and data in given, data)
    if origin in (typing.Union, types.UnionType):
        if data is None:
            return _expect(types.NoneType in given, None)
        (one,) = (each for each in given if each is not types.NoneType)
        return _decode(one, data, arrays)
    if origin in (np.ndarray, NDArray):  # from NumPy 2.5 on, NDArray is an alias with a name of its own
        return _decode_array(data, arrays)
    if origin is tuple:
        _expect(type(data) is list, data)
        if given[-1] is Ellipsis:
            return tuple(_decode(given[0], one, arrays) for one in data)
        return tuple(_decode(one, each, arrays) for one, each in zip(given, data, strict=True))
    if origin is dict:
        return {_decode(given[0], key, arrays): _decode(given[1], one, arrays) for key, one in data}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind[_expect(type(data) is str, data)]
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        _expect(type(data) is dict and data.keys() <= hints.keys(), data)
        return kind(**{name: _decode(hints[name], one, arrays) for name, one in data.items()})
    raise AssertionError(f"{kind} is no part of a reply")  # a defect of kfuzz, and of no file that it runs


def _expect(is_right: bool, data: T) -> T:
    if not is_right:
        raise ValueError
    return data


def _decode_array(data: Any, arrays: Iterator[bytes | bytearray]) -> NDArray[np.generic]:  # noqa: ANN401
    _expect(type(data) is dict and data.keys() == {"dtype", "shape"}, data)
    said = data["dtype"]
    dtype = np.dtype(said if type(said) is str else [(str(name), str(of)) for name, of in said])
    _expect(not dtype.hasobject and dtype.itemsize > 0, data)
    shape = tuple(_expect(type(one) is int and one >= 0, one) for one in data["shape"])
    raw = next(arrays)
    return (
        np.frombuffer(raw, dtype).reshape(shape) if raw else np.zeros(shape, dtype).reshape(_expect(0 in shape, shape))
    )
