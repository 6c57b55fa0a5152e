"""Builds whole programs as nvcc would, and checks them."""

import atexit
from functools import cache
from pathlib import Path

from kfuzz.devices import Finding
from kfuzz.devices.cpu.programs.build import compile_source, link, load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram, Server
from kfuzz.devices.cpu.programs.command_line import parse


@cache
def server() -> Server:
    """The process from which all programs of these tests are started: to start another takes 0.3 s."""
    one = Server()
    atexit.register(one.close)
    return one


def built(folder: Path, *words: str) -> Path:
    """The program that nvcc makes with these words."""
    command = parse(words)
    objects = [compile_source(one, command.flags).object for one in command.sources]
    link(objects, command, folder / "program")
    return folder / "program"


def check_twice(program: Path, *words: str) -> tuple[CheckedProgram, list[Finding]]:
    """The program after two runs with these words, and their findings."""
    one = CheckedProgram(load_program(program), (str(program), *words), 60.0, server(), lambda _: None)
    return one, list(one.examine(2, seed=1).findings)


def line_of(source: Path, words: str) -> int:
    """The first line of a file that has these words."""
    return next(number for number, line in enumerate(source.read_text().splitlines(), 1) if words in line)
