"""The best speed of a GPU's memory: copies of the same number of bytes, by several kernels and by the driver.

Copies also clear the cache between turns. Knows the copies' text and the GPU; never what is compared with them.
"""

from functools import partial
from pathlib import Path

import numpy as np

from kfuzz.devices import Step
from kfuzz.devices.vendor import GpuSession, Replayable
from kfuzz.devices.vendors import vendor
from kfuzz.measure.speed.protocol import Contestant, LaunchGraph

TEXT = Path(__file__).with_name("copies.cu")
CopyShape = tuple[int, int, str]
SHAPES: tuple[CopyShape, ...] = (
    (256, 4, "STREAMED"), (512, 1, "STREAMED"), (256, 1, "PLAIN"), (512, 2, "PLAIN"), (1024, 1, "PLAIN"),
    (256, 1, "KEPT"),
)  # fmt: skip
"""Threads, vectors of 16 bytes per thread, and the hint to caches: evict all of it first, none, or keep x."""
STREAMED, PLAIN = SHAPES[1], SHAPES[2]
VECTOR = 16


class CopyKernels:
    """Copies in several shapes, ready to be put on the session's stream."""

    def __init__(self, session: GpuSession) -> None:
        self._stream = session.stream
        entries = tuple(entry_of(shape) for shape in SHAPES)
        text = TEXT.read_text(encoding="utf-8")
        self._kernels = vendor().kernels(session, TEXT, text, (), entries)

    def enqueue(self, shape: CopyShape, to: int, source: int, vectors: int) -> None:
        """Copy a number of vectors from one address to another."""
        threads, count, _ = shape
        arguments = self._kernels.pack(entry_of(shape), (to, source, vectors))
        grid = (-(-vectors // (threads * count)), 1, 1)
        self._kernels.launch(Step(entry_of(shape), grid, (threads, 1, 1), 0, ()), arguments, self._stream)


class ClearingClock:
    """The clock of a session; it clears the second-level cache between turns.

    A plain copy through the whole cache evicts the earlier content, and a streamed copy of the same bytes marks them
    as the first to evict. Streaming loads and stores never evict what others have left: beside 33 MB of it, a streamed
    softmax of 67 MB took 2 to 3 % longer, for as long as it was repeated, but copies did not take longer.
    """

    def __init__(self, session: GpuSession) -> None:
        self._session, self._kernels = session, CopyKernels(session)
        self._halves = vendor().memory(session.cache), vendor().memory(session.cache)

    def seconds(self, graph: LaunchGraph) -> float:
        """How long one replay takes."""
        return self._session.seconds(graph)

    def clear_cache(self) -> None:
        """Let no earlier content stay in the cache beside the next turn's."""
        self._session.forget_persisting()
        to, source = self._halves
        for shape in (PLAIN, STREAMED):
            self._kernels.enqueue(shape, to.address, source.address, source.nbytes // VECTOR)
        self._session.wait()  # calls that are not a graph may use another stream


def copies(session: GpuSession, nbytes: int, sets: int) -> list[Contestant]:
    """Copies that move `nbytes` bytes in all, half of them in and half out, over `sets` sets of buffers."""
    vectors = max(1, nbytes // 2 // VECTOR)
    kernels = CopyKernels(session)
    both = [(vendor().memory(VECTOR * vectors), vendor().memory(VECTOR * vectors)) for _ in range(sets)]
    noise = np.random.default_rng(0).standard_normal(1 << 20, np.float32)
    for _, source in both:
        source.fill(noise)

    def copy(shape: CopyShape | None, which: int) -> None:
        to, source = both[which]
        if shape is None:
            vendor().copy(to.address, source.address, VECTOR * vectors, session.stream)
        else:
            kernels.enqueue(shape, to.address, source.address, vectors)

    def over(shape: CopyShape | None, launches: int) -> Replayable:
        def record() -> None:
            for number in range(launches):
                copy(shape, number % sets)

        return session.graph(record)

    made = [Contestant(name_of(shape), partial(over, shape)) for shape in SHAPES]
    return [*made, Contestant("copy by the driver", partial(over, None))]


def name_of(shape: CopyShape) -> str:
    """The name of a shape in reports."""
    threads, vectors, loads = shape
    return f"copy {threads}x{vectors}" + (f" {loads.lower()}" if loads != "PLAIN" else "")


def entry_of(shape: CopyShape) -> str:
    """The C++ name of a shape's kernel."""
    return "copy<{}, {}, {}>".format(*shape)
