"""Several processes that score mutants, a few at a time, and send each result as soon as they have it.

Knows processes and pipes; never what kills a mutant.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait

from kfuzz.campaign.children import Child, MakeDevice, OneByOne, end_all
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device
from kfuzz.measure.mutants.mutate import Mutant
from kfuzz.measure.mutants.trials import Control, Score, ScoreOptions, control_of, score_of


@dataclass(frozen=True)
class Batch:
    """Mutants of one kernel, which one process scores one after the other; without a control, the kernel itself."""

    kernel: Kernel
    mutants: tuple[Mutant, ...] = ()
    control: Control | None = None


@dataclass(frozen=True)
class Done:
    """The end of a batch."""


ScoreMessage = Control | Score | Done
Scorer = Child[Batch, ScoreMessage]


class Waiting:
    """The work that is left, kernel by kernel: each kernel itself, and after it its mutants."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.controls: dict[str, Control] = {}
        self._left: list[Batch] = []
        for batch in batches:
            if all(batch.kernel.name != other.kernel.name for other in self._left):
                self._left.append(Batch(batch.kernel))
            self._left.append(batch)

    def pop(self) -> Batch | None:
        """The first batch that can start now: a kernel, or mutants of a kernel that has been run."""
        for place, batch in enumerate(self._left):
            if not batch.mutants or batch.kernel.name in self.controls:
                del self._left[place]
                return replace(batch, control=self.controls.get(batch.kernel.name))
        return None


def run_batches(
    batches: Sequence[Batch], make_device: MakeDevice, options: ScoreOptions, jobs: int
) -> Iterator[Control | Score]:
    """Yield every result of the batches as soon as it is there; end the processes in any case.

    A free process runs each kernel once, and its mutants follow when the kernel's result is known.
    """
    waiting = Waiting(batches)
    scorers: list[Scorer] = [Child(make_device, OneByOne(_Batches(options))) for _ in range(min(jobs, len(batches)))]
    try:
        busy = _send_work(waiting, scorers)
        while busy:
            for pipe in wait(list(busy)):
                message = busy[pipe].receive()  # type: ignore[index]  # wait returns objects of its argument
                if isinstance(message, Done):
                    del busy[pipe]  # type: ignore[arg-type]  # likewise
                    next(scorer for scorer in scorers if scorer.pipe is pipe).is_busy = False
                else:
                    yield message
                    if isinstance(message, Control):
                        waiting.controls[message.kernel] = message
            busy |= _send_work(waiting, [scorer for scorer in scorers if not scorer.is_busy])
    finally:
        end_all(scorers)


def _send_work(waiting: Waiting, idle: Sequence[Scorer]) -> dict[Connection, Scorer]:
    """Send a batch to each idle process, as long as there is one that can start."""
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
