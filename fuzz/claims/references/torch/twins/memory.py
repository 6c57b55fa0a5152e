"""Twins: the sets of each storage that a reference's run has touched.

A twin belongs to a storage, and a tensor reads it through its own sizes, strides and offset, so that views, writes in
place and outputs need no rule. A storage without a twin holds exact numbers. Knows storages; it knows no operation.
"""

from dataclasses import dataclass, field
from typing import Any

import torch

from kfuzz.claims.references.torch.storage import key_of
from kfuzz.claims.references.torch.twins.factors import Product, SeenProduct
from kfuzz.claims.references.torch.twins.lasting import LASTING
from kfuzz.claims.references.torch.twins.sets import TINY, UNITS, NumberFacts, NumberSet, facts_of, in_type, numbers_of

MOST_KEPT = 2**22
"""Inputs of so many numbers are kept in float64: 32 MiB each."""


@dataclass(frozen=True, eq=False)
class StorageTwin:
    """The numbers of one storage, in a row; of complex numbers their parts. `alive` keeps the storage's address.

    `size`: the sizes of the numbers, if they are there already. `writes`: how often both arrays were written in place.
    `product`, `top`: as a NumberSet has them.
    """

    x: torch.Tensor
    r: torch.Tensor | None
    dtype: torch.dtype
    alive: Any = field(repr=False)
    facts: NumberFacts | None = None
    size: torch.Tensor | None = None
    writes: int = 0
    product: Product | None = None
    top: torch.Tensor | None = None

    def end(self, sign: int) -> torch.Tensor:
        return NumberSet(self.x, self.r, self.dtype).end(sign)


def real_type(dtype: torch.dtype) -> torch.dtype:
    """The type of a complex number's parts."""
    return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)


def is_whole(one: torch.Tensor) -> bool:
    """Whether a tensor of real numbers is its whole storage, in a row."""
    if one.is_complex() or not one.is_contiguous():
        return False
    return bool(one.numel() * one.element_size() == one.untyped_storage().nbytes())


def fills_storage(one: torch.Tensor) -> bool:
    """Whether a tensor of real numbers is its whole storage, in whatever order of its axes."""
    return not one.is_complex() and one.numel() * one.element_size() == one.untyped_storage().nbytes()


def all_of_storage(one: torch.Tensor) -> torch.Tensor:
    """A tensor of a whole storage, in a row."""
    real = torch.view_as_real(one.detach().resolve_conj()) if one.is_complex() else one.detach()
    return torch.as_strided(real, (real.untyped_storage().nbytes() // real.element_size(),), (1,), 0)


class Twins:
    """The twins of one run. `flushes`: whether a kernel may take the least numbers of an input for zeros.

    The arrays of a twin may be those of another, too: `own` are those that are written in place.
    """

    def __init__(self, flushes: bool = False) -> None:
        self.known: dict[int, StorageTwin] = {}
        self.own: dict[int, Any] = {}
        self.flushes = flushes

    def has(self, one: torch.Tensor) -> bool:
        return key_of(one) in self.known

    def get(self, one: torch.Tensor) -> NumberSet:
        """The set of a tensor's numbers."""
        twin = self.known.get(key_of(one)) or self._lasting(one)
        if twin is None:
            return self._given(one)
        twin = self._as_type(twin, real_type(one.dtype))
        x, r = _seen(twin.x, one), None if twin.r is None else _seen(twin.r, one)
        if one.is_complex():
            x, r = torch.view_as_complex(x.contiguous()), None if r is None else r.norm(dim=-1)
            return NumberSet(x.conj() if one.is_conj() else x, r, one.dtype)
        size, top = (None if part is None else _seen(part, one) for part in (twin.size, twin.top))
        made = twin.product
        product = None if made is None else SeenProduct(made, one.shape, one.stride(), one.storage_offset())
        return NumberSet(
            x, r, one.dtype, facts=twin.facts, known_size=size, writes=twin.writes, product=product, top=top
        )

    def _lasting(self, one: torch.Tensor) -> StorageTwin | None:
        """The twin of a large storage that was there in an earlier run."""
        held = LASTING.get(one)
        if held is None:
            return None
        r = held.flushed if self.flushes else None
        twin = StorageTwin(held.x, r, one.dtype, held.alive, held.facts, held.size)
        self.known[key_of(one)] = twin
        return twin

    def get_by_memory(self, one: torch.Tensor) -> NumberSet:
        """The set of numpy's array: that of the storage in which it lies. Nothing is known of floats in another one."""
        at = one.data_ptr()
        for twin in self.known.values():
            first = twin.alive.data_ptr()
            if first <= at < first + twin.alive.nbytes() and one.element_size() == twin.dtype.itemsize:
                place = (at - first) // one.element_size()
                seen = torch.empty(0, dtype=one.dtype).set_(twin.alive, place, one.size(), one.stride())
                return self.get(seen)
        x = numbers_of(one)
        r = torch.full(x.shape, torch.inf, dtype=torch.float64) if one.dtype in UNITS else None
        return NumberSet(x, r, one.dtype)

    def _given(self, one: torch.Tensor) -> NumberSet:
        """The numbers of a tensor without a twin; those of a whole storage are kept, since they may be asked again."""
        x = numbers_of(one.detach())
        x = x.clone() if x.dtype == one.dtype and one.is_floating_point() else x  # the reference may write into it
        r = self._flushed(x, one.dtype)
        if one.dtype not in UNITS or not is_whole(one) or one.numel() > MOST_KEPT:
            return NumberSet(x, r, one.dtype)
        rows = None if r is None else r.reshape(-1)
        twin = StorageTwin(x.reshape(-1), rows, one.dtype, one.untyped_storage(), facts_of(x, r))
        self.known[key_of(one)] = twin
        return NumberSet(x, r, one.dtype, facts=twin.facts)

    def _flushed(self, x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor | None:
        if not self.flushes or dtype not in UNITS:
            return None
        size = x.abs()
        is_low = (size < TINY) & (size > 0)
        return torch.where(is_low, size, 0.0) if bool(is_low.any()) else None

    def put(
        self, one: torch.Tensor, x: torch.Tensor, r: torch.Tensor | None, facts: NumberFacts | None = None,
        product: Product | None = None, top: torch.Tensor | None = None,
    ) -> None:  # fmt: skip
        """Let these be the numbers of a tensor; what else its storage holds stays."""
        if one.numel() == 0:
            return
        key = key_of(one)
        twin = self.known.get(key)
        if twin is None and r is None and not (one.is_floating_point() or one.is_complex()):
            return
        if is_whole(one) and one.is_floating_point():
            x, r, top = (None if part is None else self._in_a_row(part, one.shape) for part in (x, r, top))
            self.known[key] = StorageTwin(x, r, one.dtype, one.untyped_storage(), facts, product=product, top=top)
            return
        if twin is None:
            whole = all_of_storage(one)
            twin = StorageTwin(numbers_of(whole), None, whole.dtype, one.untyped_storage())
        twin = self._as_type(twin, real_type(one.dtype))
        radii = torch.zeros(twin.x.shape, dtype=torch.float64) if twin.r is None else twin.r
        self.known[key] = twin = StorageTwin(
            self._owned(twin.x), self._owned(radii), twin.dtype, twin.alive, writes=twin.writes + 1,
            product=product if fills_storage(one) else None,
        )  # fmt: skip
        radius = torch.zeros(()) if r is None else r
        if one.is_complex():
            x, radius = torch.view_as_real(x.conj().resolve_conj() if one.is_conj() else x), radius.unsqueeze(-1)
        _seen(twin.x, one).copy_(x)
        _seen(twin.r, one).copy_(radius)

    def _in_a_row(self, part: torch.Tensor, shape: torch.Size) -> torch.Tensor:
        """Numbers for a whole storage, which no write in place changes."""
        part = part.double().expand(shape).reshape(-1).contiguous()
        return part.clone() if key_of(part) in self.own else part

    def _owned(self, part: torch.Tensor) -> torch.Tensor:
        """The same numbers, in an array that is this twin's own."""
        if key_of(part) not in self.own:
            part = part.clone()
            self.own[key_of(part)] = part.untyped_storage()
        return part

    @staticmethod
    def _as_type(twin: StorageTwin, dtype: torch.dtype) -> StorageTwin:
        """The same bytes as another type: at both ends of each set, between which both types rise or fall."""
        if twin.dtype == dtype:
            return twin

        def seen(x: torch.Tensor) -> torch.Tensor:
            return numbers_of(in_type(x, twin.dtype).view(dtype))

        x = seen(twin.x)
        r = torch.zeros(x.shape, dtype=torch.float64)
        if twin.r is not None and bool((twin.r != 0).any()):
            if x.numel() != twin.x.numel():  # parts of numbers
                wide = (twin.r != 0).repeat_interleave(max(x.numel() // max(twin.x.numel(), 1), 1))
                wide = wide if wide.numel() == x.numel() else wide.reshape(x.numel(), -1).any(-1)
                return StorageTwin(x, torch.where(wide, torch.inf, 0.0), dtype, twin.alive)
            low, high = seen(twin.end(-1)), seen(twin.end(1))
            r = torch.maximum((high - x).abs().double(), (x - low).abs().double())
            r = torch.where((twin.r > 0) & ((twin.x.abs() <= twin.r) | ~twin.r.isfinite()), torch.inf, r)  # two signs
        return StorageTwin(x, r, dtype, twin.alive)


def _seen(part: torch.Tensor, one: torch.Tensor) -> torch.Tensor:
    """A tensor's place in what its storage holds, which may be a part of a larger array (of a slice that is cast)."""
    start = part.storage_offset()
    if not one.is_complex():
        return part.as_strided(one.size(), one.stride(), start + one.storage_offset())
    strides = (*(2 * step for step in one.stride()), 1)
    return part.as_strided((*one.shape, 2), strides, start + 2 * one.storage_offset())
