"""Replies as plain data: arrays come back whatever NumPy's name for their type is, and a type that kfuzz forgot is its
own defect, never the answer's.
"""

import io
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.devices.worker.plain import MOST_TEXT, ForeignBytesError, LongText, pack_plain, read_plain


@dataclass(frozen=True)
class _Arrays:
    one: NDArray[np.generic]
    more: tuple[NDArray[np.float32], ...] = ()
    other: "np.ndarray[tuple[int, ...], np.dtype[np.int32]] | None" = None


@dataclass(frozen=True)
class _Forgotten:
    one: frozenset[int]


@dataclass(frozen=True)
class _Texts:
    short: str = ""
    long: LongText | None = None


def written(reply: object) -> bytes:
    return b"".join(map(bytes, pack_plain(reply)))


def test_arrays_come_back_by_each_name_of_their_type() -> None:
    reply = _Arrays(np.arange(6, dtype=np.uint8).reshape(2, 3), (np.ones(2, np.float32),), np.arange(2, dtype=np.int32))
    back = read_plain(io.BytesIO(written(reply)).read, [_Arrays], 1 << 20)
    for given, made in zip((reply.one, *reply.more, reply.other), (back.one, *back.more, back.other), strict=True):
        assert given is not None
        assert (made.dtype, made.tolist()) == (given.dtype, given.tolist())


def test_a_type_that_kfuzz_forgot_is_no_writing_of_others() -> None:
    message = written(_Arrays(np.arange(2))).replace(b'{"dtype": "<i8", "shape": [2]}', b"[2]" + b" " * 27)
    with pytest.raises(ForeignBytesError):
        read_plain(io.BytesIO(message).read, [_Arrays], 1 << 20)
    with pytest.raises(AssertionError, match="frozenset"):
        read_plain(io.BytesIO(message).read, [_Forgotten], 1 << 20)


def test_a_source_may_be_longer_than_other_texts() -> None:
    text = "x" * (MOST_TEXT + 1)
    assert read_plain(io.BytesIO(written(_Texts(long=LongText(text)))).read, [_Texts], 0).long == text
    with pytest.raises(ForeignBytesError):
        read_plain(io.BytesIO(written(_Texts(short=text))).read, [_Texts], 0)
