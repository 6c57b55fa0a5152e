"""The inputs in which `get_inputs` makes infinities or NaNs: there, a kernel has to handle them.

In another input they are numbers of kfuzz, of which the author promised nothing. Knows what makes inputs; it knows no
set.
"""

from pathlib import Path

from kfuzz.claims.references.torch.random_state import kept_random_state
from kfuzz.claims.references.torch.runnable import Runnable
from kfuzz.claims.references.torch.sizes import SizesOfRun, elements_of
from kfuzz.claims.references.torch.task_data import tensors_of_data
from kfuzz.claims.references.torch.twins.odd_inputs import are_finite
from kfuzz.devices.python.torch.drawn_inputs import PER_SEED, inputs_of_draw

SEEDS = 4
"""What get_inputs makes is looked at under so many seeds."""
MOST_ELEMENTS = 1 << 22
"""Inputs with more elements are looked at where they are smaller, as get_inputs says with other integers in its text,
or else under one seed: there are enough to see what it makes.
"""
TOO_MANY = 1 << 25
"""To make more takes seconds and gigabytes, as 1.6 billion of a benchmark do. If the text has no smaller ones, they
count as finite, since a warning in the place of an error accuses no right kernel.
"""


def inputs_always_finite(known: Runnable, path: Path, smaller: SizesOfRun) -> frozenset[str]:
    """The names of the inputs in which get_inputs makes finite numbers alone; none if something else makes them.

    `smaller`: sizes at which the reference runs soon. A benchmark's own take gigabytes: 19_ReLU's 1.6 billion numbers
    took 50 s to make and to look at.
    """
    make = getattr(known.module, "get_inputs", None)
    if known.name_inputs is None or not callable(make):
        return frozenset()
    found, declared = set(known.names), known.declared
    sizes = {**declared.sizes, **declared.fixed}
    if known.make_at is not None and elements_of(declared.dims, sizes) > MOST_ELEMENTS:
        make, sizes = known.make_at(smaller), {**sizes, **smaller}
    if elements_of(declared.dims, sizes) > TOO_MANY:
        return frozenset(found)
    try:
        for seed in range(SEEDS):
            with kept_random_state():
                data = inputs_of_draw(make, path, PER_SEED * seed)
            tensors = tensors_of_data(data)
            odd = {name for name, one in zip(known.name_inputs(data), tensors, strict=False) if not are_finite(one)}
            found -= odd
            if sum(one.numel() for one in tensors) > MOST_ELEMENTS:
                break
    except Exception:  # of their code, or of torch: nothing is known of what it makes
        return frozenset()
    return frozenset(found)
