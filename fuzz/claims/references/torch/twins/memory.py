"""Twins: the sets of each storage that a reference's run has touched.

A twin belongs to a storage, and a tensor reads it through its own sizes, strides and offset, so that views, writes in
place and outputs need no rule. A storage without a twin holds exact numbers. Knows storages; it knows no operation.
"""

from dataclasses import dataclass, field
from typing import Any

import torch

from kfuzz.claims.references.torch.storage import key_of
from kfuzz.claims.references.torch.twins.sets import TINY, UNITS, NumberSet, in_type, numbers_of


@dataclass(frozen=True, eq=False)
class StorageTwin:
    """The numbers of one storage, in a row; of complex numbers their parts. `alive` keeps the storage's address."""

    x: torch.Tensor
    r: torch.Tensor
    dtype: torch.dtype
    alive: Any = field(repr=False)

    def end(self, sign: int) -> torch.Tensor:
        return NumberSet(self.x, self.r, self.dtype).end(sign)


def real_type(dtype: torch.dtype) -> torch.dtype:
    """The type of a complex number's parts."""
    return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)


def all_of_storage(one: torch.Tensor) -> torch.Tensor:
    """A tensor of a whole storage, in a row."""
    real = torch.view_as_real(one.detach().resolve_conj()) if one.is_complex() else one.detach()
    return torch.as_strided(real, (real.untyped_storage().nbytes() // real.element_size(),), (1,), 0)


class Twins:
    """The twins of one run. `flushes`: whether a kernel may take the least numbers of an input for zeros."""

    def __init__(self, flushes: bool = False) -> None:
        self.known: dict[int, StorageTwin] = {}
        self.flushes = flushes

    def has(self, one: torch.Tensor) -> bool:
        return key_of(one) in self.known

    def get(self, one: torch.Tensor) -> NumberSet:
        """The set of a tensor's numbers."""
        twin = self.known.get(key_of(one))
        if twin is None:
            return NumberSet(x := numbers_of(one.detach()), self._flushed(x, one.dtype), one.dtype)
        twin = self._as_type(twin, real_type(one.dtype))
        x, r = (_seen(part, one) for part in (twin.x, twin.r))
        if one.is_complex():
            x, r = torch.view_as_complex(x.contiguous()), r.norm(dim=-1)
            x = x.conj() if one.is_conj() else x
        return NumberSet(x, r, one.dtype)

    def _flushed(self, x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor | None:
        if not self.flushes or dtype not in UNITS:
            return None
        size = x.abs()
        is_low = (size < TINY) & (size > 0)
        return torch.where(is_low, size, 0.0) if bool(is_low.any()) else None

    def put(self, one: torch.Tensor, x: torch.Tensor, r: torch.Tensor | None) -> None:
        """Let these be the numbers of a tensor; what else its storage holds stays."""
        if one.numel() == 0:
            return
        key = key_of(one)
        twin = self.known.get(key)
        if twin is None and r is None and not (one.is_floating_point() or one.is_complex()):
            return
        if twin is None:
            whole = all_of_storage(one)
            base = numbers_of(whole).clone()
            twin = StorageTwin(base, torch.zeros(base.shape, dtype=torch.float64), whole.dtype, one.untyped_storage())
        elif twin.dtype != real_type(one.dtype):
            twin = self._as_type(twin, real_type(one.dtype))
            twin = StorageTwin(twin.x.clone(), twin.r.clone(), twin.dtype, twin.alive)
        self.known[key] = twin
        radius = torch.zeros(()) if r is None else r
        if one.is_complex():
            x, radius = torch.view_as_real(x.conj().resolve_conj() if one.is_conj() else x), radius.unsqueeze(-1)
        _seen(twin.x, one).copy_(x)
        _seen(twin.r, one).copy_(radius)

    @staticmethod
    def _as_type(twin: StorageTwin, dtype: torch.dtype) -> StorageTwin:
        """The same bytes as another type: at both ends of each set, between which both types rise or fall."""
        if twin.dtype == dtype:
            return twin

        def seen(x: torch.Tensor) -> torch.Tensor:
            return numbers_of(in_type(x, twin.dtype).view(dtype))

        x = seen(twin.x)
        r = torch.zeros(x.shape, dtype=torch.float64)
        if bool((twin.r != 0).any()):
            if x.numel() != twin.x.numel():  # parts of numbers
                wide = (twin.r != 0).repeat_interleave(max(x.numel() // max(twin.x.numel(), 1), 1))
                wide = wide if wide.numel() == x.numel() else wide.reshape(x.numel(), -1).any(-1)
                return StorageTwin(x, torch.where(wide, torch.inf, 0.0), dtype, twin.alive)
            low, high = seen(twin.end(-1)), seen(twin.end(1))
            r = torch.maximum((high - x).abs().double(), (x - low).abs().double())
            r = torch.where((twin.r > 0) & ((twin.x.abs() <= twin.r) | ~twin.r.isfinite()), torch.inf, r)  # two signs
        return StorageTwin(x, r, dtype, twin.alive)


def _seen(part: torch.Tensor, one: torch.Tensor) -> torch.Tensor:
    """A tensor's place in what its storage holds."""
    if not one.is_complex():
        return part.as_strided(one.size(), one.stride(), one.storage_offset())
    strides = (*(2 * step for step in one.stride()), 1)
    return part.as_strided((*one.shape, 2), strides, 2 * one.storage_offset())
