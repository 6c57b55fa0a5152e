"""Kernels of public repositories, drawn by lot before we had opened them, under their own host functions.

    python -m benchmarks.detection.any_kernel LANGUAGE NAMES MIRRORS DRAW     the candidates of a draw, in their order
    python -m benchmarks.detection measure any_kernel FOLDER... [--jobs 2]      run the draws, a folder each

LANGUAGE is one of `triton`, `cute`, `tilelang`, `numba` and `warp`. NAMES are repositories; MIRRORS has a bare copy of
each, OWNER+NAME. A candidate is a kernel by its decorator that is launched somewhere; where a function makes kernels,
as TileLang's users write them, the outermost function that holds the kernel. DRAW's own shuffle orders the
repositories, and the kernels of each; candidates come in rounds, one of each repository. Those that need other
processes, files, or another GPU's language are left out by people who see no code of kfuzz. They change nothing in
kernels and host functions; they write what calls these, as the repository's tests do, and take its reference, or write
one in torch by what it says.

A FOLDER has a folder for each kernel: `origin.json` (repository, commit, path, line, name), `solution.py` with the
kernel, its host function and `solution`, which calls that; `problem.py` with `reference` and get_inputs(). Each is
judged with six cases on the cpu device. Any error is read: a kernel may be wrong. `outcome.json` beside them is what
was seen, and is not measured again. Keeps names, figures and kfuzz's own words, and no text of the kernels.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.detection.any_reference import rows_of
from benchmarks.detection.drawn import files_of, git_of, in_rounds, run_git
from benchmarks.measurement import Figures, Record


@dataclass(frozen=True)
class Language:
    """How a language's kernels are known in the text of a file."""

    files: str
    """What a file of the language names."""
    marks: str
    """A kernel's decorator."""
    launches: str = ""
    """A launch, with the kernel's name; nothing if each kernel counts that has a decorator."""
    nested: bool = False
    """Whether kernels lie in other functions or in classes, and the outermost one is the candidate."""


LANGUAGES = {
    "triton": Language(
        r"\b(?:triton|gluon)\b", r"\b(?:triton|gluon)\.jit\b|^jit\b", r"\b(\w+)(?=\s*\[|\.run\(|\.warmup\()"
    ),
    "cute": Language(r"\bcutlass\.cute\b|\bfrom cutlass import\b", r"\bcute\.kernel$", nested=True),
    "tilelang": Language(r"\btilelang\b", r"\.prim_func\b|^prim_func\b|\btilelang\.jit\b", nested=True),
    "numba": Language(r"\bnumba\b", r"\bcuda\.jit\b(?!.*\bdevice=True)", r"\b(\w+)(?=\s*\[|\.forall\()"),
    "warp": Language(
        r"\bimport warp\b|\bfrom warp\b",
        r"\b(?:wp|warp)\.kernel\b",
        r"\blaunch(?:_tiled)?\(\s*(?:kernel\s*=\s*)?(?:\w+\.)*(\w+)",
    ),
}


def candidates(language: str, names: Sequence[str], mirrors: Path, draw: str) -> list[Record]:
    """The candidates of a draw in its order."""
    return in_rounds(names, f"58 {draw}", lambda name: kernels(LANGUAGES[language], name, mirrors))


def kernels(language: Language, name: str, mirrors: Path) -> Iterator[Record]:
    """The kernels that a repository launches, one of each name, by path and line."""
    git = git_of(mirrors, name)
    if not git.exists():
        return
    commit, seen = run_git(git, "rev-parse", "HEAD").strip(), set()
    texts = [(path, run_git(git, "cat-file", "blob", blob)) for path, blob in files_of(git, ".py")]
    texts = [(path, text) for path, text in texts if re.search(language.files, text)]
    launched = {one for _, text in texts for one in re.findall(language.launches, text)} if language.launches else None
    for path, text in texts:
        for line, kernel in kernels_in(language, text):
            if kernel not in seen and (launched is None or kernel in launched):
                yield {"repository": name, "commit": commit, "path": path, "line": line, "name": kernel}
            seen.add(kernel)


def kernels_in(language: Language, text: str) -> Iterator[tuple[int, str]]:
    """The line and name of each function of a file that is a kernel by its decorator, or that holds one."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return
    for one in body:
        if isinstance(one, ast.FunctionDef | ast.ClassDef):
            inside = ast.walk(one) if language.nested else [one]
            if any(is_kernel(language, each) for each in inside):
                yield one.lineno, one.name


def is_kernel(language: Language, one: ast.AST) -> bool:
    marks = one.decorator_list if isinstance(one, ast.FunctionDef) else []
    return any(re.search(language.marks, ast.unparse(mark)) for mark in marks)


def measure(options: Sequence[str]) -> Figures:
    """A row for each kernel of each draw."""
    return Figures({}, {"kernels": rows_of(options, __doc__, ("reference", "solution"))})


if __name__ == "__main__":
    spoken, listed_names, copies, drawn = sys.argv[1:]
    for each in candidates(spoken, Path(listed_names).read_text(encoding="utf-8").split(), Path(copies), drawn):
        print(json.dumps(each))
