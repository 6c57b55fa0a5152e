"""The shadows of storages: how a formula makes the numbers that a tensor of torch holds while a reference runs.

What is written into parts of a storage is joined only when it is read as a whole: a loop that fills a cache of 12,288
tokens page by page would else copy the cache for each page. Knows tensors and the lines of a formula; it knows no
operation but moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from kfuzz.claims.references.aten.term import Term, Writer
from kfuzz.claims.references.torch.storage import (
    Geometry,
    exact_in_single,
    geometry_of,
    key_of,
    places_at,
    places_of,
    shape_of,
    slices_of,
)
from kfuzz.devices.python.torch.packed import is_packed, numbers_in, packed_axis, unpack_storage

FEW_PIECES = 3
"""A storage is joined from pieces without an index, if these are at most so many for each row that was written."""


@dataclass(frozen=True)
class Shadow:
    """The numbers of one storage: `flat` in one row, or the term that was written last, and how it lies there."""

    size: int
    flat: str = ""
    term: Term | None = None
    geometry: Geometry | None = None
    is_constant: bool = False
    """It holds none of the inputs' numbers, and nothing that was computed."""


@dataclass
class WrittenRows:
    """Rows of numbers that were written into a storage since it was one row.

    `order`: for each place of the storage its place among these rows, side by side; `ends`: where each row ends there.
    """

    names: list[str]
    ends: list[int]
    order: Any = field(repr=False)

    @property
    def starts(self) -> list[int]:
        return [0, *self.ends[:-1]]

    def write(self, name: str, at: Any) -> None:  # noqa: ANN401  an array of places
        """One more row, at these places; the last one that is written to a place stays there."""
        self.order[at] = self.ends[-1] + np.arange(at.size)
        self.names.append(name)
        self.ends.append(self.ends[-1] + at.size)

    def pieces(self, order: Any) -> list[tuple[int, int, int]]:  # noqa: ANN401  an array
        """Numbers of these rows as runs: of which row, from where, and to where."""
        which = np.searchsorted(self.ends, order, side="right")
        breaks = np.flatnonzero((np.diff(order) != 1) | (np.diff(which) != 0)) + 1
        first, last = [0, *breaks], [*breaks, order.size]
        return [
            (int(which[a]), int(order[a]) - self.starts[which[a]], int(order[b - 1]) + 1 - self.starts[which[a]])
            for a, b in zip(first, last, strict=True)
        ]


class Storages:
    """The shadow of each storage, and the arrays that are stored with the formula."""

    def __init__(self, to: Writer) -> None:
        self.to = to
        self.constants: dict[str, Any] = {}
        self.shadows: dict[int, Shadow] = {}
        self.rows: dict[int, WrittenRows] = {}
        """By storage, what was written into parts of it and is not joined yet."""
        self.unpacked: dict[int, torch.Tensor] = {}
        """By a storage that holds several numbers in a byte, a tensor whose storage has a place for each number."""
        self.alive: list[torch.Tensor] = []
        """Every tensor that has a shadow: a freed address would be given to another storage."""
        self.count = 0

    def name(self, op: str) -> str:
        self.count += 1
        return f"{op.strip('_')}_{self.count}"

    def forget(self, one: torch.Tensor) -> None:
        """Integers that follow from floats, and no rule says how."""
        self.shadows[key_of(one)] = Shadow(0)
        self.alive.append(one)

    def is_unknown(self, one: torch.Tensor) -> bool:
        """Whether these are such integers."""
        return self.shadows.get(key_of(one)) == Shadow(0)

    def numbers(self, one: torch.Tensor, axis: int | None = None) -> torch.Tensor:
        """The numbers of a packed tensor as a tensor: a view of that which stands for its storage."""
        key = key_of(one)
        if key not in self.unpacked:
            self.unpacked[key] = unpack_storage(one)
            self.alive.append(one)
        return numbers_in(one, self.unpacked[key], axis)

    def pair(self, one: torch.Tensor, numbers: torch.Tensor) -> bool:
        """Let a tensor stand for the numbers of a packed one; whether its places follow each other in the same way."""
        self.unpacked[key_of(one)] = numbers
        self.alive.append(one)
        return geometry_of(numbers) == geometry_of(numbers_in(one, numbers, packed_axis(one)))

    def shadow(self, one: torch.Tensor) -> Shadow:
        """The shadow of a tensor's storage: a constant, as its memory has it, if nothing was written there."""
        one = self.numbers(one) if is_packed(one) else one
        key = key_of(one)
        if key not in self.shadows:
            whole = torch.as_strided(one.detach(), (one.untyped_storage().nbytes() // one.element_size(),), (1,), 0)
            held = self.hold("own", whole.to(torch.float64).numpy().copy(), "f8")
            flat = self.to.set(self.name("own"), f"N.input({held})")
            self.shadows[key] = Shadow(whole.numel(), flat, is_constant=True)
            self.alive.append(one)
        return self.shadows[key]

    def hold(self, name: str, numbers: Any, kind: str = "") -> str:  # noqa: ANN401  an array
        """An array that is stored with the formula, as text."""
        name = self.name(name)
        self.constants[name] = numbers.astype(np.float32) if kind and exact_in_single(numbers) else numbers
        return f'CONSTANTS["{name}"]' + (f'.astype("{kind}")' if kind else "")

    def operand(self, one: Any) -> Any:  # noqa: ANN401  an argument of torch, and of a rule
        """An argument as a rule takes it: floats as terms, integers and truths as arrays of this run."""
        if isinstance(one, list | tuple):
            return [self.operand(each) for each in one]
        if not isinstance(one, torch.Tensor):
            return str(one).removeprefix("torch.") if isinstance(one, torch.dtype) else one
        if one.is_floating_point():
            return self.read(one)
        if (shadow := self.shadows.get(key_of(one))) is not None and shadow.term is not None:
            return shadow.term
        return Term(self.hold("given", one.numpy().copy()), shape_of(one), is_mask=True)

    def read(self, one: torch.Tensor) -> Term:
        """The numbers of a tensor; of one that a step made, that step's own term."""
        one = self.numbers(one) if is_packed(one) else one
        shadow, shape = self.shadow(one), shape_of(one)
        if shadow.term is not None and shadow.geometry == geometry_of(one):
            return shadow.term
        if shadow.term is not None and (same := in_other_shape(shadow, one)) is not None:
            return same
        at = places_of(one)
        if (rows := self.rows.get(key_of(one))) is not None and one.numel():
            order = by_stride(one)
            pieces = rows.pieces(rows.order[at.transpose(order)].reshape(-1))
            if len(pieces) == 1:
                which, first, last = pieces[0]
                sizes = tuple(shape[axis] for axis in order)
                text = f"{rows.names[which]}[{first}:{last}]{reshaped(sizes)}{permuted(np.argsort(order).tolist())}"
                return Term(self.to.set(self.name("part"), text), shape)
        flat, first = self.flat_of(one), one.storage_offset()
        if np.array_equal(at.reshape(-1), np.arange(first, first + one.numel())):
            text = f"{flat}[{first}:{first + one.numel()}]{reshaped(shape)}"
        else:
            slices = slices_of(geometry_of(one), shadow.size)
            text = f"{flat}{slices}" if slices else f"{flat}[{self.hold('at', at)}]"
        return Term(self.to.set(self.name("part"), text), shape)

    def flat_of(self, one: torch.Tensor) -> str:
        """The numbers of a tensor's storage in one row."""
        shadow = self.shadow(one)
        if (rows := self.rows.pop(key_of(one), None)) is not None:
            made = self.to.set(self.name("written"), self.joined(rows))
            self.shadows[key_of(one)] = Shadow(shadow.size, made)
            return made
        if shadow.flat:
            return shadow.flat
        assert shadow.term is not None
        assert shadow.geometry is not None
        at = places_at(shadow.geometry).reshape(-1)
        text = f"{shadow.term.text}.reshaped(-1)"
        if not np.array_equal(at, np.arange(shadow.size)):
            order = np.empty(shadow.size, np.int64)
            order[at] = np.arange(shadow.size)
            text = f"{text}[{self.hold('order', order)}]"
        made = self.to.set(self.name("row"), text)
        self.shadows[key_of(one)] = replace(shadow, flat=made)
        return made

    def joined(self, rows: WrittenRows) -> str:
        """All rows as one, as the order says."""
        pieces = rows.pieces(rows.order)
        if len(pieces) > FEW_PIECES * len(rows.names):
            return f"N.join({', '.join(rows.names)})[{self.hold('order', rows.order)}]"
        texts = [
            rows.names[which] + f"[{first}:{last}]" * (last - first < rows.ends[which] - rows.starts[which])
            for which, first, last in pieces
        ]
        return f"N.join({', '.join(texts)})" if len(texts) > 1 else texts[0]

    def write(self, one: torch.Tensor, term: Term) -> None:
        """These numbers at a tensor's places; what else its storage holds stays."""
        if shape_of(one) != term.shape:
            term = replace(term, text=f"{term.text}{reshaped(shape_of(one))}", shape=shape_of(one), whole=None)
        geometry, size = geometry_of(one), one.untyped_storage().nbytes() // one.element_size()
        at = places_of(one).reshape(-1)
        if at.size == size == np.unique(at).size:
            self.shadows[key_of(one)] = Shadow(size, "", term, geometry)
            self.rows.pop(key_of(one), None)
            self.alive.append(one)
        elif at.size:
            order = by_stride(one)
            self.place(one, places_of(one).transpose(order).reshape(-1), f"{term.text}{permuted(order)}.reshaped(-1)")

    def place(self, one: torch.Tensor, at: Any, row: str) -> None:  # noqa: ANN401  an array of places
        """A row of numbers at some places of a storage, each the last one that is written there."""
        key = key_of(one)
        if key not in self.rows:
            flat = self.flat_of(one)
            size = self.shadows[key].size
            self.rows[key] = WrittenRows([flat], [size], np.arange(size))
            self.shadows[key] = Shadow(size)
        self.rows[key].write(self.to.set(self.name("row"), row), at)


def in_other_shape(shadow: Shadow, one: torch.Tensor) -> Term | None:
    """A term whose tensor is only reshaped: that keeps what is known of it, such as that it is a softmax."""
    term = shadow.term
    if term is None or shadow.geometry is None or shadow.geometry[2] or one.storage_offset():
        return None
    shape = shape_of(one)
    is_whole = one.is_contiguous() and one.numel() == shadow.size
    is_plain = np.array_equal(places_at(shadow.geometry).reshape(-1), np.arange(shadow.size))
    if not (is_whole and is_plain) or not shape or not term.shape or shape[-1] != term.shape[-1]:
        return None
    weights = f"{term.weights}{reshaped(shape)}" if term.weights else ""
    square = f"{term.square}{reshaped(shape)}" if term.square else ""
    return replace(term, text=f"{term.text}{reshaped(shape)}", shape=shape, whole=None, weights=weights, square=square)


def by_stride(one: torch.Tensor) -> list[int]:
    """The axes of a tensor as they lie in its storage, the one with the largest stride first."""
    strides = geometry_of(one)[1]
    return sorted(range(len(strides)), key=lambda axis: -strides[axis])


def permuted(order: Sequence[int]) -> str:
    return "" if list(order) == sorted(order) else f".permuted({tuple(order)})"


def reshaped(shape: Sequence[str]) -> str:
    return f".reshaped({', '.join(shape)})"
