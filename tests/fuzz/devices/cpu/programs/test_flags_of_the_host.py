"""A flag in pinned memory that the host sets while a kernel polls it."""

from pathlib import Path

import pytest
from paths import DATA
from program_runs import server

from kfuzz.devices.cpu.programs.build import compile_source, link, load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram
from kfuzz.devices.cpu.programs.command_line import parse


@pytest.mark.slow
def test_a_volatile_write_of_the_host_is_a_warning_and_a_plain_one_an_error(tmp_path: Path) -> None:
    command = parse([str(DATA / "threads" / "flag_of_the_host.cu")])
    made = tmp_path / "program"
    link([compile_source(one, command.flags).object for one in command.sources], command, made)

    def severities(*arguments: str) -> list[tuple[str, str]]:
        one = CheckedProgram(load_program(made), (str(made), *arguments), 60.0, server(), lambda _: None)
        return [(found.kind, found.severity) for found in one.examine(1, seed=1).findings]

    assert severities() == [("race", "warning")]
    assert severities("plain") == [("race", "error")]
