"""Nodes of graphs that allocate, free and choose: right graphs are silent, and each planted bug is found."""

from pathlib import Path

import pytest
from paths import DATA
from program_runs import built, check_program, line_of

pytestmark = pytest.mark.slow

SOURCE = DATA / "graphs" / "memory_and_conditions.cu"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("graphs"), str(SOURCE))


@pytest.mark.parametrize("way", ["", "not freed"], ids=["frees", "frees at the next launch"])
def test_right_graphs_are_silent(way: str, program: Path) -> None:
    right, findings = check_program(program, way)
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
def test_a_wrong_graph_is_found(bug: str, kind: str, words: str, program: Path) -> None:
    _, findings = check_program(program, bug)
    errors = {(one.kind, line) for one in findings if one.severity == "error" for line in (one.line, one.other_line)}
    assert (kind, line_of(SOURCE, words)) in errors, findings
