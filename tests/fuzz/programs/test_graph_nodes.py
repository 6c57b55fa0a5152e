"""Nodes of graphs that allocate, free and choose: right graphs are silent, and each planted bug is found."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from paths import DATA
from program_runs import built

from kfuzz.devices import Finding
from kfuzz.programs.build import load_program
from kfuzz.programs.check import CheckedProgram, Server

pytestmark = pytest.mark.slow

SOURCE = DATA / "graphs" / "memory_and_conditions.cu"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("graphs"), str(SOURCE))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with closing(Server()) as one:
        yield one


def run(server: Server, program: Path, bug: str) -> tuple[CheckedProgram, list[Finding]]:
    """The program after two runs, and their findings."""
    one = CheckedProgram(load_program(program), (str(program), bug), 60.0, server, lambda _: None)
    return one, list(one.examine(2, seed=1).findings)


def line_of(words: str) -> int:
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if words in line)


@pytest.mark.parametrize("way", ["", "not freed"], ids=["frees", "frees at the next launch"])
def test_right_graphs_are_silent(way: str, server: Server, program: Path) -> None:
    right, findings = run(server, program, way)
    assert findings == []
    assert [one.output for one in right.printed] == ["wrong: 0\n"] * 2


@pytest.mark.parametrize(
    ("bug", "kind", "words"),
    [
        ("unordered", "race", "// the allocation"),
        ("unwritten", "out-of-bounds", "// the square"),
        ("freed too early", "use-after-free", "// the free"),
        ("after the launch", "use-after-free", "// the square"),
        ("both count", "race", "// the turn"),
    ],
)
def test_a_wrong_graph_is_found(bug: str, kind: str, words: str, server: Server, program: Path) -> None:
    _, findings = run(server, program, bug)
    errors = {(one.kind, line) for one in findings if one.severity == "error" for line in (one.line, one.other_line)}
    assert (kind, line_of(words)) in errors, findings
