"""Several processes that score mutants, a few at a time; what is done is told as soon as it is done.

Knows processes and pipes; never what makes a mutant killed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait

from kfuzz.campaign.children import Child, MakeDevice, end_all
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Device
from kfuzz.mutating.mutate import Mutant
from kfuzz.scoring.trials import Control, Score, ScoreOptions, control_of, score_of


@dataclass(frozen=True)
class Batch:
    """Mutants of one kernel, scored by one process one after the other."""

    kernel: Kernel
    mutants: tuple[Mutant, ...]


@dataclass(frozen=True)
class Done:
    """The end of a batch."""


Told = Control | Score | Done


def run_batches(
    batches: Sequence[Batch], make_device: MakeDevice, options: ScoreOptions, jobs: int
) -> Iterator[Control | Score]:
    """Everything that comes of the batches, in the order in which it happens; ends the processes, come what may."""
    waiting = list(reversed(batches))
    hands = [Child(make_device, _Batches(options)) for _ in range(min(jobs, len(batches)))]
    busy = {}
    try:
        for hand in hands:
            hand.send(waiting.pop())
            busy[hand.pipe] = hand
        while busy:
            for pipe in wait(list(busy)):
                hand = busy[pipe]  # type: ignore[index]  # wait gives back what it was given
                told = hand.receive()
                if not isinstance(told, Done):
                    yield told
                elif waiting:
                    hand.send(waiting.pop())
                else:
                    hand.is_busy = False
                    del busy[hand.pipe]
    finally:
        end_all(hands)


@dataclass
class _Batches:
    """What a process does with a batch; it remembers what the trials of the last kernel showed."""

    options: ScoreOptions
    control: Control | None = None

    def __call__(self, device: Device, batch: Batch) -> Iterator[Told]:
        if self.control is None or self.control.kernel != batch.kernel.name:
            self.control = control_of(batch.kernel, device, self.options)
            yield self.control
        for mutant in batch.mutants:
            yield score_of(mutant, batch.kernel, device, self.options, self.control)
        yield Done()
