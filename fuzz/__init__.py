"""kfuzz: finds the inputs that break a GPU kernel, proves that they do, shrinks them, and keeps them.

    import kfuzz

    verdict = kfuzz.judge("softmax", {"x": x}, {"y": y})     is this answer right? A Verdict
    exact = kfuzz.want("softmax", {"x": x}, digits=50)       what is the right answer?
    kernel = kfuzz.load("mine.cu")                           a kernel file and its claim: a Kernel
    report = kfuzz.fuzz(kernel, cases=500, seed=7)           what breaks it? A Report
    kfuzz.check("mine.cu")                                   in a test: an error that says what is wrong
    judgement = kfuzz.judge_file("answer.cu", op="softmax")  is a stranger's file right? A Judgement

`Accuracy` and `Special` hold what a claim says about rounding and about special values. `kfuzz.testing` is for tests of
your own. The command line and the pytest plugin use the same rooms.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kfuzz import testing
    from kfuzz.api import Accuracy, Judgement, Kernel, Report, Special, Verdict, fuzz, judge, judge_file, load, want
    from kfuzz.testing import check

__all__ = [
    "Accuracy", "Judgement", "Kernel", "Report", "Special", "Verdict", "check", "fuzz", "judge", "judge_file", "load",
    "testing", "want",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Load the rooms at the first use of a name: every pytest run of every user imports this file."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "testing":
        return import_module("kfuzz.testing")
    return getattr(import_module("kfuzz.testing" if name == "check" else "kfuzz.api"), name)


def __dir__() -> list[str]:
    return [*__all__]
