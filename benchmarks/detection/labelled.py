"""Folders of labelled programs: the public suites label a program by its name or by its first lines.

Knows layouts and labels, not the verdict of a checker.
"""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.detection.programs import has_main, kernels
from kfuzz.devices import Job

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
import planted_programs

RACE, BOUNDS, BARRIER, UNSET, ANY = "race", "out-of-bounds", "barrier or hang", "uninitialised", "any error"
TOLD_AS = {
    RACE: {"race"},
    BOUNDS: {"out-of-bounds", "use-after-free", "illegal-address", "misaligned"},
    BARRIER: {"divergent-barrier", "hang"},
    UNSET: {"uninitialised", "unwritten"},
}
"""The kinds of findings that a label stands for."""
BUGS = {"raceBug": RACE, "atomicBug": RACE, "guardBug": RACE, "syncBug": RACE, "boundsBug": BOUNDS}
WORDS_OF_RACE = re.compile(r"possible (?:\w+-\w+|\w+) race|\bracy\b|\bdata race", re.IGNORECASE)
WORDS_OF_BARRIER = re.compile(r"barrier may be reached|barrier divergence|divergen", re.IGNORECASE)
WORDS_OF_BOUNDS = re.compile(r"out[- ]of[- ]bounds|beyond the end|null pointer", re.IGNORECASE)
OF_ANOTHER = re.compile(r"might not hold|assertion|invariant|postcondition|requires", re.IGNORECASE)
UNORDERED = frozenset({RACE, BARRIER})
"""The kinds that suites about the order of accesses judge: their arrays may hold anything."""
THREADS = 64
"""The threads of a block if a program leaves them open."""


@dataclass(frozen=True)
class Program:
    """A file with a main(), the words that main() gets, and the folders of its headers."""

    path: Path
    words: tuple[str, ...]
    include: tuple[Path, ...]


@dataclass(frozen=True)
class Labelled:
    """A program, the bugs that its label names, and how to run it. Only kinds that are `judged` count at all.

    `classes` are finer names of the same, for the table.
    """

    name: str
    wrong: frozenset[str]
    classes: tuple[str, ...]
    runs: Program | Callable[[], Iterator[Job]]
    judged: frozenset[str] | None = None
    excluded: str = ""
    """The reason why it is not run."""


def hirace(folder: Path, words: tuple[str, ...], include: tuple[Path, ...]) -> Iterator[Labelled]:
    """HiRace and Indigo: `push_atomicBug.cu`; main() is in a header, and takes a graph, threads and blocks."""
    words = (*words, "256", "1024") if len(words) == 1 else words  # as in HiRace's own measurements
    for path in _files(folder):
        said = [bug for bug in BUGS if bug in re.split(r"[_\-.]", path.stem)]
        yield _program(path, {BUGS[bug] for bug in said}, said, words, include)


def scor(folder: Path, words: tuple[str, ...], include: tuple[Path, ...]) -> Iterator[Labelled]:
    """ScoR's small programs: `race_interblock_...cu`, `norace_...cu`."""
    for path in _files(folder):
        first, _, rest = path.stem.partition("_")
        if first in ("race", "norace"):
            wrong = {RACE} if first == "race" else set[str]()
            classes = [rest.split("_")[0]] if wrong else []
            yield replace(_program(path, wrong, classes, words, include), judged=UNORDERED)


def gpuverify(folder: Path, words: tuple[str, ...], include: tuple[Path, ...]) -> Iterator[Labelled]:
    """GPUVerify: `//pass` or `//xfail:...`, then `//--blockDim=[8,8] --gridDim=2`; kernels without a main()."""
    del words
    for path in _files(folder):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        first = lines[0].strip() if lines else ""
        if not re.match(r"//\s*(?:pass|xfail)", first):
            continue
        head = "\n".join(line for line in lines[:12] if line.lstrip().startswith("//"))
        options = next((line for line in lines[:4] if re.search(r"--(?:blockDim|gridDim|local_size)", line)), "")
        block, grid = _size(options, "blockDim|local_size"), _size(options, "gridDim|num_groups")
        flags = (*re.findall(r"(?<=\s)-D\w+(?:=\S+)?", options), *(f"-I{one.resolve()}" for one in include))
        wrong, excluded = _declared_bug(first, head)
        yield Labelled(
            _name(path, folder),
            wrong,
            (),
            partial(kernels, path, grid, block, flags, "--warp-sync" in options),
            UNORDERED,
            excluded,
        )


def plain(folder: Path, words: tuple[str, ...], include: tuple[Path, ...]) -> Iterator[Labelled]:
    """Whole programs, labelled by their names (`_raceBug`, `race_`, `norace_`) or first lines (`//pass`, `//xfail`).

    Also kernels alone with `finds: race` on top, as in tests/data/planted/programs: without their bug and with it.
    """
    for path in _files(folder):
        text = path.read_text(encoding="utf-8", errors="replace")
        first = text.partition("\n")[0].strip()
        if re.search(r"^// (?:\w+: .*; )?finds: ", text, re.MULTILINE):
            yield from _pair(path)
            continue
        parts = re.split(r"[_\-.]", path.stem)
        said = [bug for bug in BUGS if bug in parts]
        if said or any(one.endswith("Bug") for one in parts):
            yield _program(path, {BUGS[bug] for bug in said} or {ANY}, said, words, include)
        elif parts[0] in ("race", "norace"):
            yield _program(path, {RACE} if parts[0] == "race" else set(), [], words, include)
        elif re.match(r"//\s*xfail", first):
            yield _program(path, {ANY}, [], words, include)
        else:
            yield _program(path, set(), [], words, include)


LAYOUTS = {"hirace": hirace, "scor": scor, "gpuverify": gpuverify, "plain": plain}


def _pair(path: Path) -> Iterator[Labelled]:
    one = planted_programs.program(path)
    label = next(label for label, kinds in TOLD_AS.items() if one.finds in kinds)
    for has_bug in (False, True):
        jobs = partial(_planted, one, has_bug)
        yield Labelled(f"{path.stem}{' with its bug' * has_bug}", frozenset({label} if has_bug else ()), (), jobs)


def _planted(one: planted_programs.Program, has_bug: bool) -> Iterator[Job]:
    yield planted_programs.job(one, has_bug, THREADS, 0)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.cu"))


def _name(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder).with_suffix(""))


def _program(
    path: Path, wrong: set[str], classes: list[str], words: tuple[str, ...], include: tuple[Path, ...]
) -> Labelled:
    return Labelled(
        path.stem,
        frozenset(wrong),
        tuple(classes),
        Program(path, words, include),
        excluded="" if has_main(path, include) else "it has no main()",
    )


def _size(options: str, name: str) -> tuple[int, int, int]:
    found = re.search(rf"--(?:{name})=\[?([\d,x]+)\]?", options)
    sizes = [int(one) for one in re.findall(r"\d+", found[1])] if found else [1]
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _declared_bug(first: str, head: str) -> tuple[frozenset[str], str]:
    """The bug that a file of GPUVerify's declares; or why a checker of runs cannot judge it."""
    if "xfail" not in first:
        return frozenset(), ""
    if not re.search(r"BOOGIE_ERROR|NOT_ALL_VERIFIED", first):
        return frozenset(), f"its label is about another tool: {first}"
    for words, kind in ((WORDS_OF_RACE, RACE), (WORDS_OF_BARRIER, BARRIER), (WORDS_OF_BOUNDS, BOUNDS)):
        if words.search(head):
            return frozenset({kind}), ""
    if OF_ANOTHER.search(head):
        return frozenset(), "its label is about an annotation"
    return frozenset({ANY}), ""
