"""Graphs that are replayed after their workspace was freed, moved or grown, or while other work uses it."""

from functools import partial
from pathlib import Path

import pytest
from paths import DATA
from program_runs import built, check_program, line_of

pytestmark = pytest.mark.slow

SOURCE = DATA / "graphs" / "workspaces.cu"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("workspaces"), str(SOURCE))


@pytest.mark.parametrize("way", ["", "captured again", "parameters set", "one stream", "ordered by an event"])
def test_right_workspaces_are_silent(way: str, program: Path) -> None:
    right, findings = check_program(program, way)
    assert findings == []
    assert [one.output for one in right.printed] == ["wrong: 0\n"] * 2


@pytest.mark.parametrize(
    ("bug", "kind", "words"),
    [
        ("freed", "use-after-free", "// the square"),
        ("cleared by a node", "use-after-free", "// the clearing"),
        ("freed in stream order", "use-after-free", "// the square"),
        ("moved", "use-after-free", "// the square"),
        ("grown", "use-after-free", "// the square"),
        ("two streams", "race", "// the square"),
        ("a kernel beside it", "race", "// the square"),
    ],
)
def test_a_workspace_that_moves_or_is_shared_is_found(bug: str, kind: str, words: str, program: Path) -> None:
    _, findings = check_program(program, bug)
    errors = {(one.kind, line) for one in findings if one.severity == "error" for line in (one.line, one.other_line)}
    assert (kind, line_of(SOURCE, words)) in errors, findings


def test_a_node_after_a_free_names_both_launches_and_the_free(program: Path) -> None:
    _, findings = check_program(program, "freed")
    node, launch, free = map(partial(line_of, SOURCE), ("// the first node", "// the replay", "// the free"))
    message = next(one.message for one in findings if one.line == line_of(SOURCE, "// the square"))
    assert message.endswith(
        f", and line {free} frees it; the launch in line {node} is a node of the graph that line {launch} launches"
    )


def test_a_clearing_after_a_free_names_the_free(program: Path) -> None:
    _, findings = check_program(program, "cleared by a node")
    message = next(one.message for one in findings if one.line == line_of(SOURCE, "// the clearing"))
    assert message.endswith(f", and line {line_of(SOURCE, '// the free')} frees it")


def test_a_copy_beyond_an_array_that_is_freed_later_is_out_of_bounds(program: Path) -> None:
    _, findings = check_program(program, "copied too much")
    (found,) = [one for one in findings if one.line == line_of(SOURCE, "// too much")]
    assert (found.kind, found.message) == (
        "out-of-bounds",
        "the host writes 1220 bytes from in[0] on, where the array has only 1200 left",
    )
