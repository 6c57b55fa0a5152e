"""Seeds that a file sets while it makes its inputs: each draw adds its own to them, so that draws differ all the same.

Knows what sequences of random numbers begin with; it does not know what is drawn from them.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from kfuzz.devices.python.torch.without_gpu import replace_names

SEEDS = 1 << 32
"""NumPy takes a seed below this."""
APART = 0x9E3779B1
"""Odd, so that no two draws share a seed."""


@contextmanager
def mixed_seeds(draw: int) -> Iterator[None]:
    """Add a draw to each seed that is set meanwhile; the first draw has the seeds that the file gives."""
    if not draw:
        yield
        return

    def mixed(seed: Any) -> Any:  # noqa: ANN401  a sequence, a word or None stays as it is
        return (int(seed) + draw * APART) % SEEDS if isinstance(seed, int | np.integer) else seed

    def with_mixed(begin: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *seed, **named: begin(*map(mixed, seed), **{name: mixed(one) for name, one in named.items()})

    class Generator(torch.Generator):  # type: ignore[misc]  # torch has no types for it
        def manual_seed(self, seed: int) -> torch.Generator:
            return super().manual_seed(mixed(seed))

    class RandomState(np.random.RandomState):
        def __init__(self, seed: Any = None) -> None:  # noqa: ANN401  as above
            super().__init__(mixed(seed))

    class Random(random.Random):
        def seed(self, *seed: Any, **named: Any) -> None:  # noqa: ANN401  as above
            with_mixed(super().seed)(*seed, **named)

    of_numpy = {name: with_mixed(getattr(np.random, name)) for name in ("seed", "default_rng")}
    with (
        replace_names(torch, {"manual_seed": with_mixed(torch.manual_seed), "Generator": Generator}),
        replace_names(np.random, {**of_numpy, "RandomState": RandomState}),
        replace_names(random, {"seed": with_mixed(random.seed), "Random": Random}),
    ):
        yield
