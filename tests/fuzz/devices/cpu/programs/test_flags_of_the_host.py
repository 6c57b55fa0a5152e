"""A flag in pinned memory that the host sets while a kernel polls it."""

from pathlib import Path

import pytest
from paths import DATA
from program_runs import built, check_program


@pytest.mark.slow
def test_a_volatile_write_of_the_host_is_a_warning_and_a_plain_one_an_error(tmp_path: Path) -> None:
    made = built(tmp_path, str(DATA / "threads" / "flag_of_the_host.cu"))

    def severities(*arguments: str) -> list[tuple[str, str]]:
        return [(found.kind, found.severity) for found in check_program(made, *arguments, runs=1)[1]]

    assert severities() == [("race", "warning")]
    assert severities("plain") == [("race", "error")]
