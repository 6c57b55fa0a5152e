"""The best that a card's memory does: copies of as many bytes, by several kernels and by the driver.

Knows the copies' text and the card; never what is held against them.
"""

from functools import partial
from pathlib import Path

import numpy as np

from kfuzz.devices.gpu import graphs, nvcc
from kfuzz.timing.protocol import Contestant

TEXT = Path(__file__).with_name("copies.cu")
CopyShape = tuple[int, int, str]
SHAPES: tuple[CopyShape, ...] = (
    (256, 4, "true"), (512, 1, "true"), (256, 1, "false"), (512, 2, "false"), (1024, 1, "false"),
)  # fmt: skip
"""Threads, vectors of 16 bytes a thread, and whether caches are told that nothing is wanted again."""
VECTOR = 16


def copies(session: graphs.Session, nbytes: int, sets: int) -> list[Contestant]:
    """Copies that move so many bytes in all, half of them in and half out, over so many sets of buffers."""
    vectors = max(1, nbytes // 2 // VECTOR)
    entries = tuple(entry_of(shape) for shape in SHAPES)
    cubin = nvcc.compiled(TEXT, TEXT.read_text(encoding="utf-8"), (), entries, session.card.architecture)
    module = graphs.LoadedFunctions(cubin.image)
    both = [(graphs.DeviceBytes(VECTOR * vectors), graphs.DeviceBytes(VECTOR * vectors)) for _ in range(sets)]
    noise = np.random.default_rng(0).standard_normal(1 << 20, np.float32)
    for _, source in both:
        source.fill(noise)

    def by_kernel(shape: CopyShape, which: int) -> None:
        threads, count, _ = shape
        to, source = both[which]
        there = cubin.entries[entry_of(shape)]
        arguments = graphs.packed((to.address, source.address, vectors), there.parameters)
        grid = (-(-vectors // (threads * count)), 1, 1)
        graphs.launch(module.function(there.symbol, 0), grid, (threads, 1, 1), 0, arguments, session.stream)

    def by_driver(which: int) -> None:
        to, source = both[which]
        graphs.copy(to.address, source.address, VECTOR * vectors, session.stream)

    def over(shape: CopyShape | None, launches: int) -> graphs.Replayed:
        def record() -> None:
            for number in range(launches):
                by_kernel(shape, number % sets) if shape else by_driver(number % sets)

        return session.graph(record)

    made = [
        Contestant(f"copy {shape[0]}x{shape[1]}{' streamed' * (shape[2] == 'true')}", partial(over, shape))
        for shape in SHAPES
    ]
    return [*made, Contestant("copy by the driver", partial(over, None))]


def entry_of(shape: CopyShape) -> str:
    """The kernel of a shape, as C++ has it."""
    return "copy<{}, {}, {}>".format(*shape)
