"""Measure programs with large launches, checked whole and by a sample of their blocks.

    python -m benchmarks.cost measure large_launches

All times are processor time. Both ways run one after the other, so that a busy machine slows both.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.measurement import Figures
from kfuzz.devices import Probe
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.experiments import Manner, manners
from kfuzz.devices.cpu.programs.build import compile_source, link, load_program
from kfuzz.devices.cpu.programs.command_line import parse
from kfuzz.devices.cpu.programs.messages import ProgramEnd, ProgramRun
from kfuzz.devices.cpu.programs.server import Server

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


def measure(_: Sequence[str]) -> Figures:
    """Measure all programs."""
    with tempfile.TemporaryDirectory() as folder:
        return Figures(tables={"programs": [compare(Path(folder), *each) for each in PROGRAMS.items()]})


def compare(folder: Path, name: str, arguments: tuple[str, ...]) -> dict[str, object]:
    """One program: its blocks, and the seconds of each way, in order and with threads that take turns."""
    command, program = parse([str(SOURCES / f"{name}.cu")]), folder / name
    link([compile_source(one, command.flags).object for one in command.sources], command, program)
    library = load_program(program)
    forward, _, shuffled = manners(Probe(check=True, runs=3, seed=1))
    whole, part = both_ways(library, forward, (name, *arguments))
    whole_turns, part_turns = both_ways(library, shuffled, (name, *arguments))
    return {
        "program": " ".join((name, *arguments)), "blocks": part.sampled.blocks, "in_full": part.sampled.in_full,
        "whole": whole.seconds, "sampled": part.seconds, "ratio": whole.seconds / part.seconds,
        "whole_turns": whole_turns.seconds, "sampled_turns": part_turns.seconds,
        "ratio_turns": whole_turns.seconds / part_turns.seconds,
    }  # fmt: skip


def both_ways(library: Library, manner: Manner, words: tuple[str, ...]) -> Iterator[ProgramEnd]:
    """A run that checks all blocks in full, and one that checks a sample."""
    with closing(Server()) as server:
        for whole in (True, False):
            end, _ = server.run(ProgramRun(library, replace(manner, whole=whole), LONGEST), words)
            assert isinstance(end, ProgramEnd)
            assert not end.findings, end
            print(words, manner.schedule, whole, f"{end.seconds:.2f}", file=sys.stderr, flush=True)
            yield end
