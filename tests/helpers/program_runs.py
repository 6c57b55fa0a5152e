"""Builds whole programs as nvcc would."""

from pathlib import Path

from kfuzz.programs.build import compile_source, link
from kfuzz.programs.command_line import parse


def built(folder: Path, *words: str) -> Path:
    """The program that nvcc makes with these words."""
    command = parse(words)
    objects = [compile_source(one, command.flags).object for one in command.sources]
    link(objects, command, folder / "program")
    return folder / "program"
