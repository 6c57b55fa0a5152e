"""Builds whole programs as nvcc would, and checks them."""

import atexit
from functools import cache
from pathlib import Path

from kfuzz.devices import Finding
from kfuzz.devices.cpu.programs.build import Through, compile_source, link, load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.command_line import parse
from kfuzz.devices.cpu.programs.sampling import USUAL_SAMPLING, BlockSampling
from kfuzz.devices.cpu.programs.server import Server


@cache
def server() -> Server:
    """The process from which all programs of these tests are started: to start another takes 0.3 s."""
    one = Server()
    atexit.register(one.close)
    return one


def built(folder: Path, *words: str, through_nvcc: bool = False) -> Path:
    """The program that nvcc makes with these words: by its text, or by nvcc's PTX."""
    command = parse(words)
    through = Through(command.ignored) if through_nvcc else None
    objects = [compile_source(one, command.flags, through=through).object for one in command.sources]
    link(objects, command, folder / "program", through=through)
    return folder / "program"


def check_program(
    program: Path, *words: str, runs: int = 2, timeout: float = 60.0, sampling: BlockSampling = USUAL_SAMPLING
) -> tuple[CheckedProgram, list[Finding]]:
    """The program after its runs with these words, and their findings."""
    called = (str(program), *words)
    one = CheckedProgram(load_program(program), called, timeout, server(), lambda _: None, sampling=sampling)
    return one, list(one.examine(runs, seed=1).findings)


def check_text(folder: Path, text: str, *words: str, runs: int = 2) -> tuple[CheckedProgram, list[Finding]]:
    """A program of this text after its runs, and their findings."""
    (folder / "own.cu").write_text(text)
    return check_program(built(folder, str(folder / "own.cu")), *words, runs=runs)


def line_of(source: Path, words: str) -> int:
    """The first line of a file that has these words."""
    return next(number for number, line in enumerate(source.read_text().splitlines(), 1) if words in line)
