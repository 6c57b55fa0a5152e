"""Measure programs with large launches, checked whole and by a sample: `python -m benchmarks.cost.large_launches`.

All times are processor time. Both ways run one after the other, so that a busy machine slows both.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from kfuzz.cpu.compiler import Library
from kfuzz.cpu.experiments import Manner, manners
from kfuzz.devices import Probe
from kfuzz.programs.build import compile_source, link, load_program
from kfuzz.programs.check import Server
from kfuzz.programs.command_line import parse
from kfuzz.programs.messages import ProgramEnd, ProgramRun

SOURCES = Path(__file__).with_name("large_launches")
PROGRAMS = {
    "saxpy": ("16777216", "2"),
    "matmul": ("512",),
    "reduce": ("16777216",),
    "histogram": ("16777216",),
    "layernorm": ("8192",),
    "last_block": ("65536",),
}
"""The programs, with their arguments."""
LONGEST = 400.0


def main() -> None:
    """Measure, and print the page."""
    print("# Large launches\n")
    print("Processor seconds of one run, first with every block checked in full, then with a sample of the blocks:")
    print("in forward order, and in a shuffled one in which threads take turns.\n")
    print("A program with 0 blocks stays below 64 million accesses and is not sampled: its ratios show how much a busy")
    print("machine adds.\n")
    columns = (
        "program",
        "blocks",
        "in full",
        "whole, s",
        "sampled, s",
        "ratio",
        "whole, turns, s",
        "sampled, turns, s",
    )
    print(f"| {' | '.join(columns)} | ratio |\n|---|{'---:|' * len(columns)}")
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in PROGRAMS.items():
            print(f"| {' | '.join(row(Path(folder), name, arguments))} |", flush=True)


def row(folder: Path, name: str, arguments: tuple[str, ...]) -> Iterator[str]:
    """The cells of one program."""
    command, program = parse([str(SOURCES / f"{name}.cu")]), folder / name
    link([compile_source(one, command.flags).object for one in command.sources], command, program)
    library = load_program(program)
    forward, _, shuffled = manners(Probe(check=True, runs=3, seed=1))
    ends = [end for manner in (forward, shuffled) for end in both_ways(library, manner, (name, *arguments))]
    sampled = ends[1].sampled
    yield from (f"{name} {' '.join(arguments)}", f"{sampled.blocks:,}", f"{sampled.in_full:,}")
    for whole, part in (ends[:2], ends[2:]):
        yield from (f"{whole.seconds:.1f}", f"{part.seconds:.1f}", f"{whole.seconds / part.seconds:.1f}")


def both_ways(library: Library, manner: Manner, words: tuple[str, ...]) -> Iterator[ProgramEnd]:
    """A run that checks all blocks in full, and one that checks a sample."""
    with closing(Server()) as server:
        for whole in (True, False):
            end, _ = server.run(ProgramRun(library, replace(manner, whole=whole), LONGEST), words)
            assert isinstance(end, ProgramEnd)
            assert not end.findings, end
            print(words, manner.schedule, whole, f"{end.seconds:.2f}", file=sys.stderr, flush=True)
            yield end


if __name__ == "__main__":
    main()
