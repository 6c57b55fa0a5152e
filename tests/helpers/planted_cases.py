"""Programs of many small cases, which may have a twin with one bug each: their names, and what kfuzz finds in them."""

import re
from pathlib import Path

import pytest
from planted_jobs import Mark, source
from program_runs import server

from kfuzz.devices import Finding
from kfuzz.devices.cpu.programs.build import load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.server import Server

CASE = re.compile(r"(?:(?<!define )\b(?:CASE|PAIR)\(|\{\")(\w+)\"?, [\d{a-z]")


def right_cases(file: str) -> tuple[str, ...]:
    """The cases of a program."""
    return tuple(CASE.findall(source(file)))


def wrong_cases(file: str) -> list[str]:
    """The cases that have a twin with a bug, whose line has a mark."""
    return re.findall(r"//~ \w+: [\w-]+ if (\w+)", source(file))


def by_turns(cases: list[tuple[str, str]]) -> list[object]:
    """A third of these cases of files from one seed in a plain run, and all from three seeds in `make soak`."""
    return [
        pytest.param(file, case, seed, marks=() if seed == 1 and number % 3 == 0 else pytest.mark.soak)
        for number, (file, case) in enumerate(cases)
        for seed in (1, 2, 3)
    ]


def examine(
    program: Path, *words: str, seed: int = 1, by: Server | None = None
) -> tuple[set[Mark], list[Finding], str]:
    """The errors of a program, its findings, and what it printed; `by` runs it, or the server of all tests."""
    one = CheckedProgram(load_program(program), (str(program), *words), 60.0, by or server(), lambda _: None)
    findings = list(one.examine(3, seed=seed).findings)
    output = {run.output if isinstance(run.output, str) else run.output.decode() for run in one.printed}
    return {(found.severity, found.kind, found.line or 0) for found in findings}, findings, "".join(sorted(output))
