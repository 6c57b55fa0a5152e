"""Triton kernels of public repositories, drawn by lot."""

from benchmarks.detection.sections.any_reference import drawn_blocks
from benchmarks.measurement import Measurement
from benchmarks.page import Blocks

WORDS = """
Triton kernels of public repositories that we had not opened, drawn by a method that was fixed before
([any_triton.py](any_triton.py)), under their own host functions, without a GPU: with six cases and the defaults. An
error is a false one, or the kernel is wrong: each was read. *Judged*: no finding, and a row or more has a verdict."""


def show(made: Measurement) -> Blocks:
    yield from drawn_blocks(made, WORDS, "kernel")
