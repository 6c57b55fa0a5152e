"""The numbers of large storages that outlast a run, such as the weights of a model: looked at once for many runs.

Knows storages and their numbers; it knows no operation.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from kfuzz.claims.references.torch.storage import key_of
from kfuzz.claims.references.torch.twins.sets import TINY, UNITS, NumberFacts, numbers_of

LEAST_NUMBERS = 2**22
"""Storages of fewer are looked at again in each run."""
MOST_BYTES = 2**31
"""What the numbers of all of them may take."""
MOST_SEEN = 1000
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(eq=False)
class LastingNumbers:
    """The numbers of one storage in a row, as they were once. `alive` keeps the storage's address."""

    bits: torch.Tensor
    dtype: torch.dtype
    alive: Any = field(repr=False)

    @cached_property
    def x(self) -> torch.Tensor:
        return numbers_of(self.bits.view(self.dtype))

    @cached_property
    def size(self) -> torch.Tensor:
        return self.x.abs()

    @cached_property
    def facts(self) -> NumberFacts:
        most = float(self.size.max())
        is_finite = most < float("inf")
        return NumberFacts(is_finite, False, most + TINY if is_finite else float("inf"))

    @cached_property
    def flushed(self) -> torch.Tensor | None:
        """The radii where the least numbers may be taken for zeros; None if there are none."""
        is_low = self.size < TINY
        is_low &= self.size > 0
        return torch.where(is_low, self.size, 0.0) if bool(is_low.any()) else None

    @property
    def bytes(self) -> int:
        made: int = self.bits.nbytes + 16 * self.bits.numel()
        return made


class LastingStorages:
    """The storages that were there in an earlier look, too."""

    def __init__(self) -> None:
        self.seen: OrderedDict[int, None] = OrderedDict()
        self.kept: OrderedDict[int, LastingNumbers] = OrderedDict()

    def get(self, one: torch.Tensor) -> LastingNumbers | None:
        """What is known of a tensor's storage, if it is large and not new."""
        storage = one.untyped_storage()
        if one.dtype not in UNITS or one.is_complex() or storage.nbytes() < LEAST_NUMBERS * one.element_size():
            return None
        key = key_of(one)
        bits = torch.empty(0, dtype=BITS[one.element_size()]).set_(storage)
        known = self.kept.pop(key, None)
        if known is None and key not in self.seen:
            self.seen[key] = None
            if len(self.seen) > MOST_SEEN:
                self.seen.popitem(last=False)
            return None
        if known is None or known.dtype != one.dtype or not known.bits.equal(bits):
            known = LastingNumbers(bits.clone(), one.dtype, storage)
        self.kept[key] = known
        while len(self.kept) > 1 and sum(one.bytes for one in self.kept.values()) > MOST_BYTES:
            self.kept.popitem(last=False)
        return known


LASTING = LastingStorages()
"""Those of this process, in which one reference runs."""
