"""Kernels of public repositories in languages of Python, drawn by lot."""

from benchmarks.detection.sections.any_reference import drawn_blocks
from benchmarks.measurement import Measurement
from benchmarks.page import Blocks

WORDS = """
Kernels of public repositories that we had not opened, drawn by a method that was fixed before
([any_kernel.py](any_kernel.py)), under their own host functions, without a GPU: with six cases and the defaults. An
error is a false one, or the kernel is wrong: each was read. Draws A and B are of Triton. *Judged*: no finding, and one
row or more has a verdict."""


def show(made: Measurement) -> Blocks:
    yield from drawn_blocks(made, WORDS, "kernel")
