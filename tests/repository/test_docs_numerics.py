"""docs/numerics.md: every lemma names code and tests that exist, and no comment cites a lemma that does not."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from paths import ROOT

PAGE = ROOT / "docs" / "numerics.md"
CITATION = re.compile(r"docs/([\w-]+\.md)#([\w-]+)")
EVIDENCE = re.compile(r"^- (Code|Test): `([\w/.]+)`: (.+)$", re.MULTILINE)
CHAPTERS = ("Lemmas", "The loosest bound", "Depth")
SOURCES = ("oracle", "fuzz", "kernels", "tests", "benchmarks")


def anchors(text: str) -> set[str]:
    """What a heading is called in a link to it."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def lemmas(text: str) -> dict[str, str]:
    """Each section of the chapters of lemmas, by its title."""
    chapters = {body.partition("\n")[0]: body for body in re.split(r"^## ", text, flags=re.MULTILINE)}
    sections = [one for name in CHAPTERS for one in re.split(r"^### ", chapters[name], flags=re.MULTILINE)[1:]]
    return {section.partition("\n")[0]: section for section in sections}


@cache
def defined(path: Path) -> set[str]:
    """Functions, classes and constants of a module, and what is in its classes."""
    return set(names_in(ast.parse(path.read_text(encoding="utf-8")).body, ""))


def names_in(body: list[ast.stmt], before: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield before + node.name
        if isinstance(node, ast.ClassDef):
            yield from names_in(node.body, f"{node.name}.")
        if isinstance(node, ast.Assign):
            yield from (before + target.id for target in node.targets if isinstance(target, ast.Name))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield before + node.target.id


def mistakes_in(text: str) -> list[str]:
    """Every lemma without code or test, and every name of either that does not exist."""
    found = []
    for title, section in lemmas(text).items():
        evidence = EVIDENCE.findall(section)
        found += [f"{title}: no {kind}" for kind in ("Code", "Test") if kind not in {line[0] for line in evidence}]
        for _, file, names in evidence:
            known = defined(ROOT / file) if (ROOT / file).is_file() else set()
            found += [f"{title}: {file}: {name}" for name in re.findall(r"`([^`]+)`", names) if name not in known]
    return found


@pytest.mark.slow
def test_every_lemma_names_its_code_and_a_test_that_fails_without_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(lemmas(text)) > 20
    assert mistakes_in(text) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("was", "becomes", "reported"),
    [
        ("`divide`, `may_leave", "`dvide`, `may_leave", "Division: oracle/systems/rules/division.py: dvide"),
        (
            "`test_one_factor_has",
            "`test_one_factor_had",
            "One factor: tests/oracle/test_numerics.py: test_one_factor_had_",
        ),
        ("`oracle/systems/maximum.py`", "`oracle/maxima.py`", "Maximum: oracle/maxima.py: enclose_maximum"),
        ("- Test: `tests/oracle/test_numerics.py`: `test_one_sum_must", "`test_one_sum_must", "Row factor: no Test"),
        ("`Tubes.widened`", "`Tubes.wider`", "Tubes: oracle/systems/cloud.py: Tubes.wider"),
        ("`OWN_SIZE`", "`OWN_SIZES`", "Functions by way of a larger term: oracle/systems/loosest.py: OWN_SIZES"),
    ],
)
def test_a_lemma_without_its_evidence_is_reported(was: str, becomes: str, reported: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(was) == 1
    (mistake,) = mistakes_in(text.replace(was, becomes))
    assert mistake.startswith(reported)


def test_every_lemma_and_assumption_that_a_comment_cites_is_on_its_page() -> None:
    here = Path(__file__)
    files = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*")) if path != here]
    texts = {path: path.read_text(encoding="utf-8") for path in files if path.suffix in (".py", ".cu", ".h", ".cpp")}
    cited = {path: CITATION.findall(text) for path, text in texts.items()}
    assert sum(map(len, cited.values())) > 15
    assert [(path, name) for path, names in cited.items() for name in names if not is_there(*name)] == []


def is_there(page: str, anchor: str) -> bool:
    path = ROOT / "docs" / page
    return path.is_file() and anchor in anchors(path.read_text(encoding="utf-8"))


def test_a_citation_that_leads_nowhere_is_not_there() -> None:
    (good,) = CITATION.findall("# see docs/numerics.md#row-factor.")
    assert is_there(*good)
    assert not is_there("numerics.md", "a99")
    assert not is_there("nowhere.md", "a1")


def test_no_assumption_is_cited_by_its_number_alone() -> None:
    bare = re.compile(r"\(A\d(, A\d)*\)|# A\d\b")
    assert bare.search("exactly 1 (A3).")
    for path in sorted((ROOT / "oracle").rglob("*.py")):
        assert not bare.search(path.read_text(encoding="utf-8")), path


def slacks_in(text: str) -> tuple[list[int], list[str]]:
    """The lines on which a power of two below 1 is written without a lemma, and the lemmas that the others cite.

    Such a number is a constant of its module, and the text below it cites where it is derived.
    """
    tree, cited, lemmas_cited = ast.parse(text), set(), []
    for constant, about in pairwise(tree.body):
        if isinstance(constant, ast.Assign) and isinstance(about, ast.Expr):
            citations = CITATION.findall(ast.unparse(about))
            if citations and all(is_there(*citation) for citation in citations):
                cited |= set(ast.walk(constant))
                lemmas_cited += [anchor for _, anchor in citations]
    return sorted({node.lineno for node in ast.walk(tree) if is_slack(node) and node not in cited}), lemmas_cited


def is_slack(node: ast.AST) -> bool:
    """Whether it is 2 to a negative power that stands there as a number."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Pow)
        and "-" in (power := ast.unparse(node.right))
        and (power.strip("(-)").replace(".", "").isdigit())
    )


NO_BOUNDS = ("proof", "diagnosis")
"""What simulates a kernel, looks at a wrong answer or tests an op: no bound is made there."""


@pytest.mark.slow
def test_every_slack_constant_cites_its_lemma() -> None:
    lemmas_cited = []
    for path in sorted((ROOT / "oracle").rglob("*.py")):
        if not set(NO_BOUNDS) & set(path.relative_to(ROOT).parts):
            lines, more = slacks_in(path.read_text(encoding="utf-8"))
            assert (path, lines) == (path, [])
            lemmas_cited += more
    assert lemmas_cited.count("room") > 10


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('A = 1 + 2.0**-40\n"""docs/numerics.md#room: a sum."""\n', []),
        ('A = 1 + 2.0**-40\n"""Room for a sum."""\n', [1]),
        ('A = 1 + 2.0**-40\n"""docs/numerics.md#rooms: a sum."""\n', [1]),
        ("A = 1 + 2.0**-40\nB = 2\n", [1]),
        ("def f(x):\n    return x * (1 + 2.0 ** (-40))\n", [2]),
        ("def f(x):\n    return 2.0 ** -x + 2.0**40\n", []),
    ],
)
def test_a_slack_without_a_lemma_is_reported(text: str, lines: list[int]) -> None:
    assert slacks_in(text)[0] == lines
