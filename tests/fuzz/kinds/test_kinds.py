"""The files of fuzz/kinds are the only list of kinds: code names no other kind, and agrees with the files."""

import ast
import gc
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pytest
from paths import ROOT

from kfuzz.cases import recipe
from kfuzz.devices.cpu.sights import SIGHTS
from kfuzz.kinds import FOLDER, KINDS, Trait, kinds_with, read_kind
from kfuzz.oracle.numbers import verdict
from kfuzz.oracle.numbers.elements import ELEMENTS
from kfuzz.ui.reports.listing import read_folder

OTHER_WORDS = {"", *recipe.KINDS, *ELEMENTS} - KINDS.keys()
"""Kinds of other things: the base of a recipe, a kept answer, an array."""
REPORTERS = {"devices/cpu": "cpu", "devices/gpu": "gpu", "devices/python": "callables", "campaign/trials": "oracle"}
"""The reporter on whose behalf each room makes findings."""
SHARED = ("devices", "campaign/properties")
"""Where findings are made on behalf of all devices, apart from those rooms."""
FILES = [*sorted(ROOT.glob("fuzz/**/*.py")), *sorted(ROOT.glob("benchmarks/**/*.py"))]


@dataclass(frozen=True)
class Place:
    """The parameter of a call that is a kind: its position and keyword."""

    position: int
    keyword: str


def is_kind(annotation: ast.expr | None) -> bool:
    return annotation is not None and bool(re.search(r"\bKind\b", ast.unparse(annotation)))


def places(tree: ast.Module) -> Iterator[tuple[str, Place]]:
    """The functions and classes of a file that take a kind, by the annotations of their parameters and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            own = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
            taken = [(one.target.id, one.annotation) for one in own if isinstance(one.target, ast.Name)]
        elif isinstance(node, ast.FunctionDef):
            taken = [(one.arg, one.annotation) for one in node.args.args if one.arg != "self"]
        else:
            continue
        yield from ((node.name, Place(i, name)) for i, (name, note) in enumerate(taken) if is_kind(note))


def strings(node: ast.expr | None) -> Iterator[str]:
    """The string literals in an expression that it may stand for or hold."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*strings(node.body), *strings(node.orelse))
    elif isinstance(node, ast.Set | ast.Tuple | ast.List):
        yield from (one for inner in node.elts for one in strings(inner))


def in_declaration(node: ast.AnnAssign) -> Iterator[str]:
    """The kinds in the value of a variable whose type mentions kinds: a kind, or a table of kinds."""
    note, value = ast.unparse(node.annotation), node.value
    if not isinstance(value, ast.Dict):
        yield from strings(value)
    elif note.startswith("dict[Kind"):
        yield from (one for key in value.keys for one in strings(key))
    else:
        firsts = (one.elts[0] if isinstance(one, ast.Tuple) else one for one in value.values)
        yield from (one for first in firsts for one in strings(first))


def kinds_in(tree: ast.Module, takers: dict[str, set[Place]]) -> Iterator[str]:
    """The kinds that a file names: in calls, comparisons, unions, declarations and returns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            for place in takers.get(name, ()):
                given = [*node.args[place.position : place.position + 1]]
                given += [word.value for word in node.keywords if word.arg == place.keyword]
                yield from (one for each in given for one in strings(each))
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            is_part_of = isinstance(node.ops[0], ast.In | ast.NotIn) and isinstance(node.left, ast.Constant)
            ending = r"(^|[._])kinds$" if is_part_of else r"(^|[._])kinds?$"
            written = [one for side in sides for one in strings(side)]
            if written and any(re.search(ending, ast.unparse(side)) for side in sides):  # to unparse is dear
                yield from written
        elif isinstance(node, ast.BinOp):
            written = [*strings(node.left), *strings(node.right)]
            if written and re.search(r"\.kind\b", ast.unparse(node)):
                yield from written
        elif isinstance(node, ast.AnnAssign) and is_kind(node.annotation):
            yield from in_declaration(node)
        elif isinstance(node, ast.FunctionDef) and is_kind(node.returns):
            yield from (
                one for inner in ast.walk(node) if isinstance(inner, ast.Return) for one in strings(inner.value)
            )


def takers_of(trees: list[ast.Module]) -> dict[str, set[Place]]:
    takers: dict[str, set[Place]] = {}
    for name, place in (one for tree in trees for one in places(tree)):
        takers.setdefault(name, set()).add(place)
    return takers


@pytest.fixture(scope="module")
def in_code() -> dict[Path, set[str]]:
    """The kinds that each file names."""
    gc.disable()  # trees are no garbage, and to look for some in all of them takes most of the time
    try:
        trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
        takers = takers_of(list(trees.values()))
        return {path: set(kinds_in(tree, takers)) - OTHER_WORDS for path, tree in trees.items()}
    finally:
        gc.enable()


@pytest.mark.slow
def test_every_kind_that_code_names_has_a_file(in_code: dict[Path, set[str]]) -> None:
    assert {str(path): kinds - KINDS.keys() for path, kinds in in_code.items() if kinds - KINDS.keys()} == {}
    oracle = set(get_args(verdict.AnswerKind)) - {""}
    assert set[str]().union(*in_code.values(), oracle, (one.kind for one in SIGHTS)) >= KINDS.keys()


TYPES = """
class Finding:
    kind: Kind
    message: str
class Watch:
    def report(self, text: str, kind: Kind) -> None: ...
"""


@pytest.mark.parametrize(
    "text",
    [
        'Finding("rase", "two writes")',
        'Finding(kind="rase", message="two writes")',
        'Finding("rase" if a else "rase", "two writes")',
        'watch.report("two writes", "rase")',
        'any(found.kind == "rase" for found in findings)',
        'any("rase" != one.finding.kind for one in sights)',
        'defect.kind in ("rase",)',
        'kinds == {"rase"}',
        '"rase" not in kinds',
        'closer = {one.kind for one in sights} | {"rase"}',
        'ENDED: dict[str, Kind] = {"an end": "rase"}',
        'LABELS: dict[Kind, str] = {"rase": "two writes"}',
        'SIGNALS: dict[int, tuple[Kind, str]] = {1: ("rase", "an end")}',
        'def f():\n    kind: Kind = "rase"',
        'def f() -> Kind | None:\n    return "rase"',
    ],
)
def test_a_kind_without_a_file_is_noticed_wherever_it_is_written(text: str) -> None:
    assert set(kinds_in(ast.parse(text), takers_of([ast.parse(TYPES)]))) == {"rase"}


def room_of(path: Path) -> str:
    """The storey of a file and its room in it."""
    return "/".join(path.relative_to(ROOT).parts[1:3])


@pytest.mark.slow
def test_a_kind_is_reported_by_the_devices_that_its_file_names(in_code: dict[Path, set[str]]) -> None:
    made: dict[str, set[str]] = {device: set() for device in REPORTERS.values()}
    for path, kinds in in_code.items():
        if device := REPORTERS.get(room_of(path)):
            made[device] |= kinds
    for device in ("cpu", "callables"):  # CUDA and Triton of a callable run on the cpu device
        made[device] |= {one.kind for one in SIGHTS}
    made["oracle"] |= set(get_args(verdict.AnswerKind)) - {""}
    shared = set[str]().union(
        *(
            kinds
            for path, kinds in in_code.items()
            if room_of(path).startswith(SHARED) and room_of(path) not in REPORTERS
        )
    )
    for kind in KINDS.values():
        reporters = {device for device, kinds in made.items() if kind.name in kinds}
        assert set(kind.devices) <= reporters or kind.name in shared, kind.name


def test_every_kind_has_a_sentence_of_its_own() -> None:
    sentences = [one.sentence for one in KINDS.values()]
    assert len(set(sentences)) == len(sentences)
    assert all(line[0].islower() and not line.endswith(".") for line in sentences)


def test_a_sight_of_the_runtime_is_at_most_as_severe_as_its_kind() -> None:
    assert all(one.severity in ("warning", KINDS[one.kind].severity) for one in SIGHTS)


def test_a_kind_that_is_only_a_warning_in_some_sights_says_when() -> None:
    mild = {one.kind for one in SIGHTS if one.severity == "warning" and KINDS[one.kind].severity == "error"}
    assert {kind for kind in mild if not KINDS[kind].warning} == set()


def test_every_exhibit_is_of_a_kind_that_blames_a_kernel() -> None:
    kernels, errors = read_folder()
    assert not errors
    shown = {kernel.broken.kind for kernel in kernels if kernel.broken}
    assert shown < KINDS.keys() - kinds_with("blames-device")


def test_every_trait_belongs_to_a_kind() -> None:
    assert [trait for trait in get_args(Trait) if not kinds_with(trait)] == []


def test_a_page_begins_with_the_facts_of_its_front_matter() -> None:
    page = KINDS["inactive-lane"].page
    assert page.startswith(
        "# inactive-lane\n\nSeverity: error; a warning if only a NaN from such a lane changes the answer. "
        "Reported by the cpu device.\n"
    )
    assert "Reported by the cpu device, the gpu device and the device for Python callables." in KINDS["race"].page
    assert all("## What to do" in one.page and "---" not in one.page for one in KINDS.values())


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ("severity: error", "severity: fatal", "'fatal' is not one of error, warning"),
        ("devices: cpu, gpu,", "devices: cpu, tpu,", "'tpu' is not one of cpu, gpu, callables, oracle"),
        ("sentence: two", "sentense: two", "unknown or missing in the front matter: sentence, sentense"),
        ("warning: every", "traits: odd\nwarning: every", "'odd' is not one of ends-context, "),
        ("# race", "# rase", "expected a front matter between two lines of ---, then '# race'"),
        ("---\nseverity", "severity", "expected a front matter between two lines of ---, then '# race'"),
    ],
)
def test_a_file_with_a_mistake_is_refused(tmp_path: Path, before: str, after: str, wrong: str) -> None:
    text = (FOLDER / "race.md").read_text(encoding="utf-8")
    assert before in text
    (tmp_path / "race.md").write_text(text.replace(before, after, 1))
    with pytest.raises(ValueError, match=re.escape(f"race.md: {wrong}")):
        read_kind(tmp_path / "race.md")
