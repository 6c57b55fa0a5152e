"""Triton kernels of public repositories, drawn by lot before we had opened them, under their own host functions.

    python -m benchmarks.detection.any_triton NAMES MIRRORS DRAW        the candidates of a draw, in their order
    python -m benchmarks.detection measure any_triton FOLDER... [--jobs 2]      run the draws, a folder each

NAMES are repositories; MIRRORS has a bare copy of each, OWNER+NAME. A candidate is a kernel, a function with
`triton.jit` or `gluon.jit` that is launched somewhere. DRAW's own shuffle orders the repositories, and the kernels of
each; candidates come in rounds, one of each repository. Those that need other processes, files, or another GPU's
language are left out by people who see no code of kfuzz. They change nothing in kernels and host functions; they write
what calls these, as the repository's tests do, and take its reference, or write one in torch by what it says.

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
from pathlib import Path

from benchmarks.detection.any_reference import rows_of
from benchmarks.detection.drawn import files_of, git_of, in_rounds, run_git
from benchmarks.measurement import Figures, Record

IS_KERNEL = re.compile(r"\b(?:triton|gluon)\.jit\b|^jit\b")
MAY_HAVE = re.compile(r"\b(?:triton|gluon)\b")
LAUNCHED = re.compile(r"\b(\w+)(?=\s*\[|\.run\(|\.warmup\()")


def candidates(names: Sequence[str], mirrors: Path, draw: str) -> list[Record]:
    """The candidates of a draw in its order."""
    return in_rounds(names, f"58 {draw}", lambda name: kernels(name, mirrors))


def kernels(name: str, mirrors: Path) -> Iterator[Record]:
    """The kernels that a repository launches, one of each name, by path and line."""
    git = git_of(mirrors, name)
    if not git.exists():
        return
    commit, seen = run_git(git, "rev-parse", "HEAD").strip(), set()
    texts = [(path, run_git(git, "cat-file", "blob", blob)) for path, blob in files_of(git, ".py")]
    texts = [(path, text) for path, text in texts if MAY_HAVE.search(text)]
    launched = {one for _, text in texts for one in LAUNCHED.findall(text)}
    for path, text in texts:
        for line, kernel in kernels_in(text):
            if kernel in launched - seen:
                yield {"repository": name, "commit": commit, "path": path, "line": line, "name": kernel}
            seen.add(kernel)


def kernels_in(text: str) -> Iterator[tuple[int, str]]:
    """The line and name of each function of a file that is a kernel by its decorator."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return
    for one in body:
        if isinstance(one, ast.FunctionDef) and any(IS_KERNEL.search(ast.unparse(mark)) for mark in one.decorator_list):
            yield one.lineno, one.name


def measure(options: Sequence[str]) -> Figures:
    """A row for each kernel of each draw."""
    return Figures({}, {"kernels": rows_of(options, __doc__, ("reference", "solution"))})


if __name__ == "__main__":
    listed_names, copies, drawn = sys.argv[1:]
    for each in candidates(Path(listed_names).read_text(encoding="utf-8").split(), Path(copies), drawn):
        print(json.dumps(each))
