"""Jobs for the planted programs: each file holds a correct program, and one with a bug, which -DBUG makes of it.

The comments at the top say what the program is, what the bug must be found as, how it is launched, and its arguments:
    // class: locks; finds: race; grid: 4; cluster: 2
    // y: f32[T] = 0; x: in f32[4 * T]; start: csr start; n: 4 * T
`y` is an output, filled or not (`inout` has input, too), `x` an input, `start` a part of a graph of 4 * T vertices and
`n` a C int. T is the number of threads of a block; as many blocks as `cluster` says make a cluster.
"""

import random
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from paths import DATA

from kfuzz.devices import Buffer, Job, Step
from kfuzz.oracle.numbers.elements import ELEMENTS, I32

PROGRAMS = (DATA / "planted") / "programs"
NAMES = tuple(sorted(one.stem for one in PROGRAMS.glob("*.cu")))

_ROW = re.compile(r"^// (\w+: .*)$", re.MULTILINE)
_ARRAY = re.compile(r"(in |inout )?(f32|i32|u32)\[(.+?)\](?: = (\d+))?")


@dataclass(frozen=True)
class Program:
    """What the top of a file says."""

    path: Path
    source: str
    group: str
    finds: str
    grid: int
    shared: str
    cluster: int
    arguments: tuple[tuple[str, str], ...]


def program(path: Path | str) -> Program:
    """The planted program of this name, or the one in a file."""
    path = PROGRAMS / f"{path}.cu" if isinstance(path, str) else path
    source = path.read_text(encoding="utf-8")
    rows = _ROW.findall(source[: source.index("__global__")].split("\n\n")[0])
    said = dict(one.split(": ", 1) for row in rows for one in row.split("; "))
    words = ("class", "finds", "grid", "shared", "cluster")
    arguments = tuple((one, text) for one, text in said.items() if one not in words)
    shared, cluster = said.get("shared", "0"), int(said.get("cluster", "0"))
    return Program(path, source, said["class"], said["finds"], int(said["grid"]), shared, cluster, arguments)


def job(one: Program, has_bug: bool, threads: int, seed: int) -> Job:
    """A launch of the program with so many threads a block, and content by this seed."""
    draw = np.random.default_rng(seed)
    graph = csr(one.grid * threads, seed)
    buffers, args = [], []
    for name, text in one.arguments:
        if text.startswith("csr"):
            buffers.append(Buffer(name, I32, graph[text[4:]].shape, content=graph[text[4:]]))
        elif array := _ARRAY.fullmatch(text):
            buffers.append(_buffer(name, array, threads, draw))
        else:
            args.append(_number(text, threads))
            continue
        args.append(name)
    cluster: tuple[int, int, int] | tuple[()] = (one.cluster, 1, 1) if one.cluster else ()
    shared, together = _number(one.shared, threads), "this_grid()" in one.source
    step = Step("k", (one.grid, 1, 1), (threads, 1, 1), shared, tuple(args), cluster, together)
    flags = ("-DBUG",) if has_bug else ()
    return Job(one.path.stem, one.path, one.source, flags, 256, tuple(buffers), (step,), ("k",))


def csr(vertices: int, seed: int) -> dict[str, NDArray[np.int32]]:
    """A graph: every third seed a chain with a hub, a power law, or edges at random."""
    draw = random.Random(seed)  # noqa: S311  nothing is kept secret
    if seed % 3 == 0:
        edges = [[(v + 1) % vertices, 0] for v in range(vertices)]
    elif seed % 3 == 1:
        edges = [
            [int(vertices * draw.random() ** 4) for _ in range(1 + vertices // (4 * (v + 1)))] for v in range(vertices)
        ]
    else:
        edges = [[draw.randrange(vertices) for _ in range(draw.randrange(1, 5))] for _ in range(vertices)]
    start = np.cumsum([0, *map(len, edges)], dtype=np.int32)
    return {"start": start, "to": np.array([to for one in edges for to in one], np.int32)}


def _number(text: str, threads: int) -> int:
    product = 1
    for factor in text.split("*"):
        product *= threads if factor.strip() == "T" else int(factor)
    return product


def _buffer(name: str, array: re.Match[str], threads: int, draw: np.random.Generator) -> Buffer:
    role, element, length, fill = array.groups()
    shape = (_number(length, threads),)
    if not role:
        value = None if fill is None else int(fill)
        return Buffer(name, ELEMENTS[element], shape, fill=value, is_output=name == "y")
    content = draw.integers(0, 1000, shape).astype(ELEMENTS[element].dtype)
    return Buffer(name, ELEMENTS[element], shape, content=content, is_output=role == "inout ")
