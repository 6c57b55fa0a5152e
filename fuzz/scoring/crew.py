"""Several processes that score mutants, a few at a time; what is done is told as soon as it is done.

Knows processes and pipes; never what makes a mutant killed.
"""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from fuzz.devices import ClaimError, Device, DeviceError
from fuzz.kernel import Kernel
from fuzz.mutate import Mutant
from fuzz.scoring.trials import Control, Options, Score, control_of, score_of
from fuzz.search.children import start, stay_deaf
from fuzz.search.crew import JOIN_SECONDS, MakeDevice


@dataclass(frozen=True)
class Batch:
    """Mutants of one kernel, scored by one process one after the other."""

    kernel: Kernel
    mutants: tuple[Mutant, ...]


@dataclass(frozen=True)
class Done:
    """The end of a batch."""


Told = Control | Score | Done | DeviceError | ClaimError


def run_batches(batches: Sequence[Batch], make_device: MakeDevice, options: Options, jobs: int) -> Iterator[Told]:
    """Everything that comes of the batches, in the order in which it happens; ends the processes, come what may."""
    waiting = list(reversed(batches))
    hands = [_Hand(make_device, options) for _ in range(min(jobs, len(batches)))]
    busy = {}
    try:
        for hand in hands:
            hand.start(waiting.pop())
            busy[hand.pipe] = hand
        while busy:
            for pipe in wait(list(busy)):
                hand = busy[pipe]  # type: ignore[index]  # wait gives back what it was given
                told = hand.receive()
                if isinstance(told, DeviceError | ClaimError):
                    raise told
                if isinstance(told, Done) and waiting:
                    hand.start(waiting.pop())
                elif isinstance(told, Done):
                    del busy[hand.pipe]
                else:
                    yield told
    finally:
        for hand in hands:
            hand.close()


class _Hand:
    """One process that scores batches."""

    def __init__(self, make_device: MakeDevice, options: Options) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(theirs, make_device, options))
        start(self._process)
        theirs.close()
        self.is_busy = False

    def start(self, batch: Batch) -> None:
        self.is_busy = True
        self.pipe.send(batch)

    def receive(self) -> Told:
        try:
            told: Told = self.pipe.recv()
            self.is_busy = not isinstance(told, Done)
        except EOFError:
            self._process.join(JOIN_SECONDS)
            return DeviceError(f"a process that scored mutants ended with exit code {self._process.exitcode}")
        return told

    def close(self) -> None:
        self.pipe.close()  # which ends the process when it next looks
        self._process.join(0.0 if self.is_busy else JOIN_SECONDS)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(JOIN_SECONDS)


def _serve(pipe: Connection, make_device: MakeDevice, options: Options) -> None:
    """The other end of a hand: batches come in, scores go out, until the pipe is closed."""
    stay_deaf()
    signal.signal(signal.SIGTERM, _leave)
    device: Device | None = None
    control: Control | None = None
    try:
        device = make_device()
        while True:
            batch: Batch = pipe.recv()
            if control is None or control.kernel != batch.kernel.name:
                control = control_of(batch.kernel, device, options)
                pipe.send(control)
            for mutant in batch.mutants:
                pipe.send(score_of(mutant, batch.kernel, device, options, control))
            pipe.send(Done())
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    except (DeviceError, ClaimError) as error:
        pipe.send(error)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the device ends its own process, undisturbed
        if device is not None:
            device.close()


def _leave(*_: object) -> None:
    raise EOFError
