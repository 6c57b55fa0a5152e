"""Several processes that score mutants, a few at a time; what is done is told as soon as it is done.

Knows processes and pipes; never what makes a mutant killed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait

from kfuzz.campaign.children import Child, MakeDevice, end_all
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device
from kfuzz.mutating.mutate import Mutant
from kfuzz.scoring.trials import Control, Score, ScoreOptions, control_of, score_of


@dataclass(frozen=True)
class Batch:
    """Mutants of one kernel, scored by one process one after the other; without a control, the kernel itself."""

    kernel: Kernel
    mutants: tuple[Mutant, ...] = ()
    control: Control | None = None


@dataclass(frozen=True)
class Done:
    """The end of a batch."""


ScoreMessage = Control | Score | Done
Scorer = Child[Batch, ScoreMessage]


class Waiting:
    """What is left to do, kernel by kernel: each kernel itself, and behind it its mutants."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.controls: dict[str, Control] = {}
        self._left: list[Batch] = []
        for batch in batches:
            if all(batch.kernel.name != other.kernel.name for other in self._left):
                self._left.append(Batch(batch.kernel))
            self._left.append(batch)

    def pop(self) -> Batch | None:
        """The first thing that can be done now: a kernel, or mutants of one that has been run."""
        for place, batch in enumerate(self._left):
            if not batch.mutants or batch.kernel.name in self.controls:
                del self._left[place]
                return replace(batch, control=self.controls.get(batch.kernel.name))
        return None


def run_batches(
    batches: Sequence[Batch], make_device: MakeDevice, options: ScoreOptions, jobs: int
) -> Iterator[Control | Score]:
    """Everything that comes of the batches, in the order in which it happens; ends the processes, come what may.

    Each kernel is run once, by whoever is free, and its mutants when that is known.
    """
    waiting = Waiting(batches)
    scorers: list[Scorer] = [Child(make_device, _Batches(options)) for _ in range(min(jobs, len(batches)))]
    try:
        busy = _send_work(waiting, scorers)
        while busy:
            for pipe in wait(list(busy)):
                told = busy[pipe].receive()  # type: ignore[index]  # wait gives back what it was given
                if isinstance(told, Done):
                    del busy[pipe]  # type: ignore[arg-type]  # likewise
                    next(scorer for scorer in scorers if scorer.pipe is pipe).is_busy = False
                else:
                    yield told
                    if isinstance(told, Control):
                        waiting.controls[told.kernel] = told
            busy |= _send_work(waiting, [scorer for scorer in scorers if not scorer.is_busy])
    finally:
        end_all(scorers)


def _send_work(waiting: Waiting, idle: Sequence[Scorer]) -> dict[Connection, Scorer]:
    """Give work to whoever is idle, as far as there is any that can be begun with."""
    busy = {}
    for scorer in idle:
        if (batch := waiting.pop()) is not None:
            scorer.send(batch)
            busy[scorer.pipe] = scorer
    return busy


@dataclass(frozen=True)
class _Batches:
    """What a process does with a batch."""

    options: ScoreOptions

    def __call__(self, device: Device, batch: Batch) -> Iterator[ScoreMessage]:
        if batch.control is None:
            yield control_of(batch.kernel, device, self.options)
        else:
            for mutant in batch.mutants:
                yield score_of(mutant, batch.kernel, device, self.options, batch.control)
        yield Done()
