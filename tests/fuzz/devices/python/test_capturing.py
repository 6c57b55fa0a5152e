"""Captured calls, with a library whose graphs are lists of functions and whose memory is the host's."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.campaign.properties.checks import graphs
from kfuzz.campaign.properties.property import Examined, NamedOutputs
from kfuzz.devices import Buffer, Finding, Job, Outcome, Probe, PythonCall, Refusal, Run, Step, Untried
from kfuzz.devices.capture import REPLAYS
from kfuzz.devices.outcomes import Circumstances
from kfuzz.devices.python.arena import HostArena
from kfuzz.devices.python.calling import Caller
from kfuzz.devices.python.capturing import examine_captured
from kfuzz.devices.python.lending import Allocations, CapturedCall, ReturnedArray
from kfuzz.devices.python.lent_memory import LentArray
from kfuzz.oracle.numbers.elements import F32, Element

Floats = NDArray[np.float32]
X = np.arange(12, dtype=np.float32).reshape(3, 4)
CALL = PythonCall("forward", ("x",), (), ("y",), "numpy", "numpy")


class Quiet:
    def findings(self) -> Iterator[Finding]:
        return iter(())


class Recorder:
    """A library: work is done at once, or recorded while a graph is captured. Freed memory is kept for others."""

    def __init__(self) -> None:
        self.recorded: list[Callable[[], object]] | None = None
        self.freed = list[Floats]()

    def launch(self, work: Callable[[], object]) -> None:
        if self.recorded is None:
            work()
        else:
            self.recorded.append(work)

    def wait(self) -> None:
        if self.recorded is not None:
            raise RuntimeError("operation not permitted when stream is capturing")

    def lend(self, memory: LentArray, element: Element) -> object:
        return memory.host

    def answer(self, value: object) -> ReturnedArray | None:
        if not isinstance(value, np.ndarray):
            return None
        return ReturnedArray("ndarray", F32.name, value.copy(), True, int(value.ctypes.data))

    def watch(self, word: int) -> AbstractContextManager[Allocations]:
        return nullcontext(Quiet())

    def stream(self) -> AbstractContextManager[int] | None:
        return None

    def capture(self, call: Callable[[], object]) -> CapturedCall:
        call()
        self.recorded = works = list[Callable[[], object]]()
        try:
            value = call()
        finally:
            self.recorded = None

        def replay() -> None:
            for work in works:
                work()

        return CapturedCall(value, replay)

    def occupy_free(self, word: int) -> Callable[[], int]:
        every = [one.view(np.uint32) for one in self.freed]
        for one in every:
            one[:] = word
        return lambda: sum(int((one != np.uint32(word)).sum()) for one in every)


def right(library: Recorder) -> Callable[[Floats], Floats]:
    def forward(x: Floats) -> Floats:
        y = np.empty(len(x), np.float32)
        library.launch(lambda: np.sum(x, axis=1, out=y))
        return y

    return forward


def reads_on_the_host(library: Recorder) -> Callable[[Floats], Floats]:
    def forward(x: Floats) -> Floats:
        y, sums = np.empty(len(x), np.float32), x.sum(axis=1)
        library.launch(lambda: np.copyto(y, sums))
        return y

    return forward


def waits(library: Recorder) -> Callable[[Floats], Floats]:
    def forward(x: Floats) -> Floats:
        library.wait()
        return right(library)(x)

    return forward


def workspace(library: Recorder, frees: bool, starts: Callable[[int], Floats] = lambda n: np.zeros(n, np.float32)):  # type: ignore[no-untyped-def]  # noqa: ANN201
    """Sums by way of a workspace that grows; `frees`: the old one, which a graph may still use."""
    kept = [starts(0)]

    def forward(x: Floats) -> Floats:
        if kept[0].size < x.size:
            if frees:
                library.freed.append(kept[0])
            kept[0] = starts(2 * x.size)
        work, y = kept[0][: x.size], np.empty(len(x), np.float32)
        library.launch(lambda: np.copyto(work, x.ravel()))
        library.launch(lambda: np.sum(work.reshape(x.shape), axis=1, out=y))
        return y

    return forward


def counters(library: Recorder) -> Callable[[Floats], Floats]:
    """Sums that start at zeros which every call leaves there; a larger call gives this memory back."""
    kept = [np.zeros(0, np.float32)]

    def forward(x: Floats) -> Floats:
        if len(kept[0]) < len(x):
            library.freed.append(kept[0])
            kept[0] = np.zeros(len(x), np.float32)
        zeros, y = kept[0][: len(x)], np.empty(len(x), np.float32)

        def add_up() -> None:
            with np.errstate(invalid="ignore"):  # what others wrote there may be a NaN that signals
                np.copyto(y, zeros + x.sum(axis=1))

        library.launch(add_up)
        return y

    return forward


def job_of(x: Floats) -> Job:
    buffers = (Buffer("x", F32, x.shape, content=x), Buffer("y", F32, (len(x),), is_output=True))
    step = Step(CALL, (1, 1, 1), (1, 1, 1), 0, ())
    return Job("sums", Path("sums.py"), "", (), 4, buffers, (step,), (CALL,))


def examined(make: Callable[[Recorder], Callable[[Floats], Floats]]) -> Outcome:
    job = replace(job_of(X), earlier=(job_of(X[:2, :2]), job_of(np.tile(X, (2, 2))), job_of(X[::-1].copy())))
    library = Recorder()
    return examine_captured(Caller(job, CALL, make(library), library, HostArena()), Probe(seed=3))


def look(outcome: Outcome) -> Finding | bool | None:
    """What the property makes of an outcome, where the sums of the rows are right."""

    class Kernel:
        def outputs(self, outputs: NamedOutputs, sizes: object) -> NamedOutputs:
            return outputs

    class Bound:
        sizes = None

    def judge(_: object, got: NamedOutputs) -> bool:
        return bool(np.allclose(got["y"], X.sum(axis=1)))

    trial = Examined(Kernel(), None, {}, Probe(), Bound(), outcome, True, lambda *_: outcome, judge, "gpu", tuple)  # type: ignore[arg-type]
    return graphs.read_outcome(trial, outcome)


@pytest.mark.parametrize(
    "make", [right, lambda library: workspace(library, frees=False)], ids=["no workspace", "an old one stays"]
)
def test_a_right_call_is_right_in_every_replay(make: Callable[[Recorder], Callable[[Floats], Floats]]) -> None:
    outcome = examined(make)
    assert [run.outputs["y"].tolist() for run in outcome.runs] == [X.sum(axis=1).tolist()] * len(REPLAYS)
    assert look(outcome) is True


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            reads_on_the_host,
            "y[0] is 27 (0x41d80000), and 6 (0x40c00000) without a graph: when it is replayed after its",
        ),
        (waits, "the call cannot be captured: RuntimeError: operation not permitted when stream is capturing"),
        (lambda library: workspace(library, frees=True), "freed memory is written: 12 words"),
        (counters, "without a graph: when it is replayed after calls of other sizes"),
    ],
    ids=["reads on the host", "waits", "a freed workspace", "freed zeros"],
)
def test_a_wrong_call_is_found_by_a_replay(make: Callable[[Recorder], Callable[[Floats], Floats]], words: str) -> None:
    found = look(examined(make))
    assert isinstance(found, Finding)
    assert found.kind == graphs.KIND
    assert words in found.message


def test_what_no_replay_shows_is_not_a_failure() -> None:
    one = Run(Circumstances(), {"y": np.zeros(3, np.float32)})
    assert look(Outcome((one, one, one))) is None  # the call itself is wrong: that has its own finding
    assert look(Outcome(untried=Untried.NO_GRAPHS)) is None
    assert look(Outcome(refusal=Refusal("not of this size"))) is None
    assert look(Outcome()) is None


def test_a_library_without_graphs_is_not_looked_at() -> None:
    class Plain:
        def __init__(self, all_of: Recorder) -> None:
            self.lend, self.answer, self.watch, self.stream = all_of.lend, all_of.answer, all_of.watch, all_of.stream

    library = Recorder()
    found = examine_captured(Caller(job_of(X), CALL, right(library), Plain(library), HostArena()), Probe())
    assert found == Outcome(untried=Untried.NO_GRAPHS)
