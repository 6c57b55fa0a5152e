"""Triton kernels of public repositories, drawn by lot before we had opened them, under their own hosts and tests.

    python -m benchmarks.detection.any_triton NAMES MIRRORS DRAW        the candidates of a draw, in their order
    python -m benchmarks.detection measure any_triton FOLDER... [--jobs 2]      run the draws, a folder each

NAMES are repositories; MIRRORS has a bare copy of each, OWNER+NAME. A candidate is a kernel, a function with
`triton.jit` or `gluon.jit` that is launched somewhere and that a test of its repository reaches: a pytest function
whose text names a function or a class whose text names the kernel, over at most three such steps in files that say
triton. DRAW's own shuffle orders the repositories, and the kernels of each; candidates come in rounds, one of each
repository.

A FOLDER has `list.jsonl`, the candidates that are to be run, and `checkouts`, a checkout of each repository at its
commit, OWNER+NAME. Nothing in them is changed. Of the tests that reach a kernel the first three in the order of their
names are tried until one launches it, each with its two smallest cases by the integers in their parameters: a CPU takes
no large ones. triton_test_process.py runs them in the process of Python that runs this script, so what a repository
imports must be installed there. `outcomes.jsonl` keeps what was seen of each kernel, which is not measured again:

    run        every launch of the kernel was compiled, translated and run; with or without findings
    refused    a launch was not taken, with kfuzz's or Triton's line
    needs      the test imports what is not there, or skips itself
    not reached, did not end, crashed

Any error is to be read: the repository's own test passes or fails beside it. Keeps names, figures and kfuzz's own
words, and no text of the kernels.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.detection.drawn import files_of, git_of, in_rounds, run_git
from benchmarks.measurement import Figures, Record

IS_KERNEL = re.compile(r"\b(?:triton|gluon)\.jit\b|^jit\b")
IS_TEST_FILE = re.compile(r"(?:^|/)test_[^/]*\.py$|_test\.py$")
MAY_REACH = re.compile(r"\b(?:triton|gluon)\b")
"""A file without these words has no kernel and, tests aside, is no step to one."""
LAUNCHED = re.compile(r"\b(\w+)(?=\s*\[|\.run\(|\.warmup\()")
WORD = re.compile(r"[A-Za-z_]\w*")
STEPS, TESTS, SECONDS = 3, 3, 300.0


def candidates(names: Sequence[str], mirrors: Path, draw: str) -> list[Record]:
    """The candidates of a draw in its order."""
    return in_rounds(names, f"58 {draw}", lambda name: kernels(name, mirrors))


def kernels(name: str, mirrors: Path) -> Iterator[Record]:
    """The kernels of a repository that its tests reach, one of each name, by path and line."""
    git = git_of(mirrors, name)
    if not git.exists():
        return
    commit, seen = run_git(git, "rev-parse", "HEAD").strip(), set()
    texts = [(path, text) for path, text in _texts(git) if MAY_REACH.search(text) or IS_TEST_FILE.search(path)]
    parts = [one for path, text in texts for one in _parts(path, text)]
    uses, launched = _users(parts), {name for _, text in texts for name in LAUNCHED.findall(text)}
    for part in parts:
        is_new = part.is_kernel and part.name in launched and part.name not in seen
        if is_new and (tests := sorted(_tests(part.name, uses))):
            where = {"path": part.path, "line": part.line, "kernel": part.name}
            yield {"repository": name, "commit": commit, **where, "tests": [list(one) for one in tests]}
        seen.add(part.name)


def _texts(git: Path) -> Iterator[tuple[str, str]]:
    """The path and the text of each Python file, by one process of git."""
    paths = list(files_of(git, ".py"))
    asked = "".join(f"{blob}\n" for _, blob in paths).encode()
    made = subprocess.run(
        ["git", "--git-dir", git, "cat-file", "--batch"], input=asked, capture_output=True, check=True
    )
    at = 0
    for path, _ in paths:
        end = made.stdout.index(b"\n", at)
        head = made.stdout[at:end].split()
        size = int(head[2]) if len(head) == 3 else 0  # a blob that the copy lacks is named missing
        yield path, made.stdout[end + 1 : end + 1 + size].decode(errors="replace")
        at = end + 1 + size + (1 if len(head) == 3 else 0)


class _Part:
    """A function or a class of a file, with the names in its text."""

    def __init__(self, path: str, node: ast.FunctionDef | ast.ClassDef, text: str) -> None:
        self.path, self.line, self.name = path, node.lineno, node.name
        marks = [ast.unparse(one) for one in node.decorator_list]
        self.is_kernel = isinstance(node, ast.FunctionDef) and any(map(IS_KERNEL.search, marks))
        self.is_test = bool(IS_TEST_FILE.search(path)) and node.name.startswith(("test", "Test"))
        self.words = set(WORD.findall(text)) - {node.name}


def _parts(path: str, text: str) -> Iterator[_Part]:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return
    lines = text.split("\n")
    for one in body:
        if isinstance(one, ast.FunctionDef | ast.ClassDef):
            yield _Part(path, one, "\n".join(lines[one.lineno - 1 : one.end_lineno]))


def _users(parts: Sequence[_Part]) -> dict[str, list[_Part]]:
    """The parts whose text has each name of a part."""
    known = {one.name for one in parts}
    found: dict[str, list[_Part]] = {}
    for one in parts:
        for word in one.words & known:
            found.setdefault(word, []).append(one)
    return found


def _tests(kernel: str, users: dict[str, list[_Part]]) -> set[tuple[str, str]]:
    """The tests that reach a kernel: file and function."""
    found, names, done = set[tuple[str, str]](), {kernel}, set[str]()
    for _ in range(STEPS):
        reached = [one for name in names for one in users.get(name, ())]
        found |= {(one.path, one.name) for one in reached if one.is_test}
        done |= names
        names = {one.name for one in reached if not one.is_test} - done
    return found


def measure(options: Sequence[str]) -> Figures:
    """A row for each kernel of each draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="kernels at once")
    chosen = parser.parse_args(options)
    rows = []
    for folder in chosen.folders:
        kept, known = folder / "outcomes.jsonl", dict[str, Record]()
        if kept.exists():
            known = {key_of(row): row for row in map(json.loads, kept.read_text(encoding="utf-8").splitlines())}
        listed = [json.loads(one) for one in (folder / "list.jsonl").read_text(encoding="utf-8").splitlines()]
        todo = [one for one in listed if key_of(one) not in known]
        with ThreadPoolExecutor(chosen.jobs) as pool, kept.open("a", encoding="utf-8") as out:
            for row in pool.map(lambda one, at=folder: run(one, at / "checkouts"), todo):
                out.write(json.dumps(row) + "\n")
                out.flush()
                known[key_of(row)] = row
        rows += [{"draw": folder.name, **known[key_of(one)]} for one in listed]
    return Figures({}, {"kernels": rows})


def key_of(row: Record) -> str:
    return f"{row['repository']} {row['path']} {row['kernel']}"


def run(candidate: Record, checkouts: Path) -> Record:
    """What is seen of a kernel in the first of its tests that launches it."""
    began, said = time.monotonic(), dict[str, object]()
    root = checkouts / candidate["repository"].replace("/", "+")
    for path, test in candidate["tests"][:TESTS]:
        left = SECONDS - (time.monotonic() - began)
        seen = run_test(root, path, test, candidate["kernel"], max(1.0, left))
        if not said or seen["outcome"] in ("run", "refused"):
            said = {"test": f"{path}::{test}", **seen}
        if seen["outcome"] in ("run", "refused", "did not end"):
            break
    where = {name: candidate[name] for name in ("repository", "commit", "path", "line", "kernel")}
    return {**where, **said, "seconds": round(time.monotonic() - began, 1)}


def run_test(root: Path, path: str, test: str, kernel: str, seconds: float) -> Record:
    """What one test shows."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        words = [path, test, kernel, str(answer)]
        paths = ":".join((str(root), str(root / "src"), str(Path.cwd())))
        command = [sys.executable, "-m", "benchmarks.detection.triton_test_process", *words]
        try:
            done = subprocess.run(
                command, cwd=root, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
                timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"outcome": "did not end", "why": ""}
        if not answer.exists():
            return {"outcome": "crashed", "why": (done.stderr.strip().splitlines() or [""])[-1][:200]}
        seen: Record = json.loads(answer.read_text(encoding="utf-8"))
        return seen


if __name__ == "__main__":
    listed_names, copies, drawn = sys.argv[1:]
    for each in candidates(Path(listed_names).read_text(encoding="utf-8").split(), Path(copies), drawn):
        print(json.dumps(each))
