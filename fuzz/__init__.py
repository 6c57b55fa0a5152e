"""kfuzz: finds the inputs that break a GPU kernel, proves that they do, shrinks them, and keeps them.

    import kfuzz

    verdict = kfuzz.judge("softmax", {"x": x}, {"y": y})     is this answer right?
    exact = kfuzz.want("softmax", {"x": x}, digits=50)       what is the right answer?
    kernel = kfuzz.load("mine.cu")                           a kernel file and its claim
    report = kfuzz.fuzz(kernel, cases=500, seed=7)           what breaks it?

`Accuracy` and `Special` hold what a claim says about rounding and about special values. The command line, the pytest
plugin and the Hypothesis strategies (`kfuzz.strategies`) use the same rooms.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kfuzz.api import Accuracy, Special, fuzz, judge, load, want

__all__ = ["Accuracy", "Special", "fuzz", "judge", "load", "want"]


def __getattr__(name: str) -> object:
    """Load the rooms at the first use of a name: every pytest run of every user imports this file."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("kfuzz.api"), name)
