"""A wrong answer explained by one wrong step of its reference: the run with that step changed gives the same answer.

The reference runs again for each way to get one of its calls of torch wrong (`changes/`), in torch's own arithmetic.
Knows calls and their text; it knows no rule.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kfuzz.claims.references.torch.twins.as_arrays import in_doubles
from kfuzz.claims.references.torch.twins.calls import TorchCall, changes_of
from kfuzz.claims.references.torch.twins.leaves import GivenInputs, call_with, fresh
from kfuzz.claims.references.torch.twins.lines import line_of
from kfuzz.claims.references.torch.twins.sets import numbers_of
from kfuzz.oracle.diagnosis.mutated import StepChange, WrongAnswer, fitting
from kfuzz.oracle.numbers.enclosure import Doubles

MOST_CHANGES = 400
"""So many runs are made of one reference: at 2 ms each, less than a second."""


class ChangedRun(TorchFunctionMode):  # type: ignore[misc]  # torch is not there where types are checked
    """A run with one call changed; with none changed, it lists every change. `file`: the reference's own."""

    def __init__(self, file: str, changed: StepChange | None = None) -> None:
        super().__init__()
        self.file, self.changed, self.count = file, changed, 0
        self.offered: dict[StepChange, str] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Make one call, or what is wrong in its place."""
        kwargs = kwargs or {}
        call = TorchCall(func, args, kwargs)
        if self.changed is None:
            place, text = line_of(self.file)
            call = TorchCall(func, args, kwargs, text)
        elif self.changed.step != self.count:
            self.count += bool(changes_of(call))
            return func(*args, **kwargs)
        ways = changes_of(call)
        if not ways:
            return func(*args, **kwargs)
        step, self.count = self.count, self.count + 1
        if self.changed is None:
            for way, (words, _) in enumerate(ways):
                self.offered[StepChange(step, way)] = said(place, text, words)
            return func(*args, **kwargs)
        made = ways[self.changed.way][1]()
        return args[0].copy_(made) if call.writes else made


def said(place: str, text: str, words: str) -> str:
    """A change in words: after the line, and after the expression if the words have no part of it."""
    return f"{place} {words}" if "`" in words or not text else f"{place} `{text}` {words}"


@dataclass(frozen=True)
class Explaining:
    """A reference at inputs of a finding. `output`: the place of the output among all. `changed`: as in a run."""

    function: Callable[..., Any]
    given: GivenInputs
    file: str
    output: int = 0
    changed: Collection[int] | None = None
    offered: dict[StepChange, str] = field(default_factory=dict)

    def made(self, change: StepChange | None) -> Doubles | None:
        """The output of a run with this change; None if it raises, or has no such output."""
        mode = ChangedRun(self.file, change)
        try:
            with mode:
                every = call_with(self.function, fresh(self.given), self.changed)
            self.offered.update(mode.offered)
            return in_doubles(numbers_of(torch.as_tensor(every[self.output][1]).detach()))
        except Exception:  # of torch, for what does not fit
            return None

    def explain(self, answer: WrongAnswer) -> list[str]:
        """The changes that give this answer, in words: the first of each line."""
        right = self.made(None)
        if right is None or right.shape != answer.got.shape:
            return []
        some = dict(islice(self.offered.items(), MOST_CHANGES))
        found: dict[str, str] = {}
        for words in fitting(answer, right, some, self.made):
            found.setdefault(words.partition(" ")[0], words)
        return list(found.values())
