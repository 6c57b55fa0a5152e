"""Kinds of findings stand once: whatever emits one, or asks for one, uses a word of the list."""

import ast
import re
import typing
from collections.abc import Iterator

import pytest
from paths import ROOT

from kfuzz import kinds as pages
from kfuzz.cpu.findings import SEEN
from kfuzz.devices.kinds import KINDS, Kind
from kfuzz.devices.worker import SIGNALS
from kfuzz.oracle import verdict
from kfuzz.views.listing import read_folder

MAKERS = ("Finding", "Defect", "Seen", "_found")


def emitted(text: str) -> Iterator[str]:
    """The kinds that a piece of Python names: in what makes a finding, and in tables that say they hold kinds."""
    for node in ast.walk(ast.parse(text)):
        found: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
            found = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "kind")]
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "kind":
            found = node.comparators if ast.unparse(node.left).split(".")[0] in ("found", "finding", "defect") else []
        elif isinstance(node, ast.AnnAssign) and node.value and re.search(r"\bKind\b", ast.unparse(node.annotation)):
            values = node.value.values if isinstance(node.value, ast.Dict) else [node.value]
            found = [inner for value in values for inner in [value, *getattr(value, "elts", [])[:1]]]
        for one in found:
            expression = one.body if isinstance(one, ast.IfExp) else one
            if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
                yield expression.value


def everywhere() -> dict[str, set[str]]:
    """The kinds that each file of the tool names."""
    paths = [*ROOT.glob("fuzz/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]
    return {str(path.relative_to(ROOT)): set(emitted(path.read_text(encoding="utf-8"))) for path in paths}


@pytest.mark.slow
def test_every_kind_that_the_code_names_is_in_the_list() -> None:
    found = everywhere()
    assert {name: kinds - KINDS.keys() for name, kinds in found.items() if kinds - KINDS.keys()} == {}
    told_by_the_oracle = set(typing.get_args(verdict.AnswerKind)) - {""}
    told = set[str]().union(*found.values(), told_by_the_oracle, (one.kind for one in SEEN.values()))
    assert told == KINDS.keys(), "a kind that nobody tells"


@pytest.mark.parametrize(
    "text",
    [
        'Finding("rase", "two writes")',
        'Finding(kind="rase", message="two writes")',
        'x = any(found.kind == "rase" for found in findings)',
        'ENDED: dict[str, Kind] = {"an end": "rase"}',
        'SIGNALS: dict[int, tuple[Kind, str]] = {1: ("rase", "an end")}',
        'def f():\n    kind: Kind = "rase"',
    ],
)
def test_a_kind_that_is_in_no_list_is_seen(text: str) -> None:
    assert list(emitted(text)) == ["rase"]


def test_the_list_and_its_type_are_the_same() -> None:
    assert typing.get_args(Kind) == tuple(KINDS)
    assert {kind for kind, _ in SIGNALS.values()} <= KINDS.keys()


def test_each_kind_is_told_in_words_of_its_own() -> None:
    words = [meaning.words for meaning in KINDS.values()]
    assert len(set(words)) == len(words)
    assert all(line and line[0].islower() and not line.endswith(".") for line in words)


def test_what_the_runtime_sees_is_no_graver_than_its_kind() -> None:
    assert all(one.severity in ("warning", KINDS[one.kind].severity) for one in SEEN.values())


def test_every_exhibit_is_of_a_kind_that_blames_a_kernel() -> None:
    kernels, errors = read_folder()
    assert not errors
    shown = {kernel.broken.kind for kernel in kernels if kernel.broken}
    assert shown < KINDS.keys()
    assert "out-of-memory" not in shown


def test_every_kind_has_a_page_and_no_page_is_of_another() -> None:
    assert pages.names() == tuple(sorted(KINDS))
