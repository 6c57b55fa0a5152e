"""No code reads back the words of a message, a reason or a note: a typed value beside them has the meaning."""

import ast
import re
from collections.abc import Iterator

import pytest
from paths import ROOT

WORDS = {
    "message", "reason", "reasons", "refusal", "refusals", "pattern", "note", "notes", "remark", "standing", "title",
    "bucket", "fault", "diagnosis", "label", "circumstances",
}  # fmt: skip
"""Attributes and items that hold text for people."""
MENTIONED = re.compile(rf"\b(?:{'|'.join(sorted(WORDS))})\b")
"""A file without any of these words reads none of them, and need not be parsed."""
READERS = {
    "startswith", "endswith", "split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix", "find",
    "index", "fullmatch", "match", "search", "findall", "finditer",
}  # fmt: skip
EXCEPTIONS = {
    "fuzz/devices/python/guards.py": "it rewords the sentence of another device",
    "fuzz/devices/cpu/vast.py": "it rewords the sentence of a sight",
    "fuzz/campaign/trials/defect.py": "it leaves out the kernel's name, which it knows",
}


def words_in(node: ast.AST) -> set[str]:
    """The names of attributes and items with text for people that an expression reads."""
    attributes = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    items = {
        one.slice.value for one in ast.walk(node)
        if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Constant) and isinstance(one.slice.value, str)
    }  # fmt: skip
    return (attributes | items) & WORDS


def comparisons(tree: ast.AST) -> Iterator[int]:
    """The lines that take text for people apart, or search a literal in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READERS:
            read = [node.func.value, *node.args]
            if any(isinstance(one, ast.Attribute | ast.Subscript) and words_in(one) for one in read):
                yield node.lineno
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            is_search = any(isinstance(one, ast.In | ast.NotIn) for one in node.ops)
            if is_search and any(isinstance(one, ast.Attribute) and words_in(one) for one in node.comparators):
                yield node.lineno


@pytest.mark.slow
def test_no_code_reads_words_back() -> None:
    paths = [path for folder in ("fuzz", "oracle") for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(paths) > 100
    found = {
        str(path.relative_to(ROOT)): lines
        for path in paths
        if MENTIONED.search(text := path.read_text(encoding="utf-8")) and (lines := list(comparisons(ast.parse(text))))
    }
    assert found.keys() == EXCEPTIONS.keys(), found


@pytest.mark.parametrize(
    "code",
    [
        'defect.message.split(":")[0]',
        'trial.reasons[0].startswith("refused: ")',
        're.search("reads", found.message)',
        '"of its warp" in defect.message',
        're.sub(r"x", "y", ""), PATTERN.fullmatch(extent.pattern)',
        'one["message"].partition(" ")',
    ],
)
def test_words_that_are_read_back_are_noticed(code: str) -> None:
    assert list(comparisons(ast.parse(code))) == [1]


@pytest.mark.parametrize(
    "code", ["reason.why is Why.NAN", 'f"{defect.message}"', 'name.split("/")', "front.reasons.add(1)"]
)
def test_what_only_carries_words_is_not(code: str) -> None:
    assert list(comparisons(ast.parse(code))) == []
