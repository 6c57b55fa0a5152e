"""Reference functions of public repositories, drawn by lot before we had opened them: does kfuzz judge by them?

    python -m benchmarks.detection.any_reference NAMES MIRRORS DRAW      the candidates of a draw, in their order
    python -m benchmarks.detection measure any_reference FOLDER... [--jobs 2]      run the draws, a folder each

NAMES are repositories; MIRRORS has a bare copy of each, OWNER+NAME. A candidate is a Python function whose first or
last word says that it is a reference, in a file that imports torch. DRAW's own shuffle orders the repositories, and the
functions of each; candidates come in rounds, one of each repository. Those that need a GPU, other processes or a file
that is not there are left out by people who see no code of kfuzz; they write what calls the others, as the repository's
tests do, and change nothing in them.

A FOLDER has a folder for each function: `origin.json` (repository, commit, path, line, name), `problem.py` with the
function and get_inputs(), `solution.py` with the same function; one that takes arguments by their names is called by
`reference` and by `solution` there. Each is judged against itself with six cases, or as many as begin within two
minutes, so any error is a false one.
`outcome.json` beside them is what was seen, and is not measured again. Keeps names, figures and kfuzz's own words, and
no text of the functions.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.detection.drawn import files_of, git_of, in_rounds, run_git
from benchmarks.measurement import Figures, Record

WORDS = "ref|reference|naive|torch|pytorch|eager|native|golden|baseline"
IS_REFERENCE = re.compile(rf"^_*(?:{WORDS})_|_(?:{WORDS})$")
IMPORTS_TORCH = re.compile(r"^\s*(import torch|from torch\b)", re.MULTILINE)
PROGRESS = re.compile(r"\[ *[\d.]+ s\]")
CASES, TIME, SECONDS = 6, "2m", 240.0
"""No trial begins after this time; what is found then is shrunk, and the process is ended after so many seconds."""


def candidates(names: Sequence[str], mirrors: Path, draw: str) -> list[Record]:
    """The candidates of a draw in its order."""
    return in_rounds(names, f"56 {draw}", lambda name: functions(name, mirrors))


def functions(name: str, mirrors: Path) -> Iterator[Record]:
    """The reference functions of a repository, one of each name, by path and line."""
    git = git_of(mirrors, name)
    if not git.exists():
        return
    commit, seen = run_git(git, "rev-parse", "HEAD").strip(), set()
    for path, blob in files_of(git, ".py"):
        text = run_git(git, "cat-file", "blob", blob)
        if not IMPORTS_TORCH.search(text):
            continue
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError):
            continue
        for one in body:
            if isinstance(one, ast.FunctionDef) and IS_REFERENCE.search(one.name) and one.args.args:
                if one.name not in seen:
                    yield {"repository": name, "commit": commit, "path": path, "line": one.lineno, "name": one.name}
                seen.add(one.name)


def measure(options: Sequence[str]) -> Figures:
    """A row for each function of each draw."""
    return Figures({}, {"functions": rows_of(options, __doc__)})


def rows_of(options: Sequence[str], about: str | None, names: tuple[str, str] | None = None) -> list[Record]:
    """A row for each folder of each draw. `names`: of the reference and of the function that it judges; None if both
    have the name of the origin.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="functions at once")
    chosen = parser.parse_args(options)
    every = [one.parent for folder in chosen.folders for one in sorted(folder.glob("*/origin.json"))]
    every = [one for one in every if (one / "problem.py").exists()]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        seen = pool.map(partial(kept, names=names), every)
        return [{"draw": one.parent.name, **row} for one, row in zip(every, seen, strict=True)]


def kept(folder: Path, names: tuple[str, str] | None = None) -> Record:
    """What is known of a function, measured now if nothing is."""
    known = folder / "outcome.json"
    if not known.exists():
        known.write_text(json.dumps(judge(folder, names)), encoding="utf-8")
    seen: Record = json.loads(known.read_text(encoding="utf-8"))
    return seen


def judge(folder: Path, names: tuple[str, str] | None = None) -> Record:
    """How kfuzz judges a function by a reference, which is the same one without names."""
    origin = json.loads((folder / "origin.json").read_text(encoding="utf-8"))
    is_called = "\ndef reference(" in (folder / "problem.py").read_text(encoding="utf-8")
    own = ("reference", "solution") if is_called else (origin["name"], origin["name"])
    (reference, solution), report = names or own, folder / "report.json"
    words = ["solution.py", "--reference", f"problem.py:{reference}", "--entry", solution, "--device", "cpu"]
    words += ["--no-sandbox"] if "tilelang" in (folder / "solution.py").read_text(encoding="utf-8") else []  # its nvcc
    command = [sys.executable, "-m", "kfuzz", "fuzz", *words, "--max-cases", str(CASES), "--max-time", TIME]
    command += ["--json", report.name]
    report.unlink(missing_ok=True)
    began = time.monotonic()
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        said = done.stderr + done.stdout
        (folder / "said").write_text(said, encoding="utf-8")
        made = json.loads(report.read_text(encoding="utf-8")) if report.exists() else None
        seen = outcome(made, said)
    except subprocess.TimeoutExpired:
        seen = {"outcome": "did not end", "why": "", "rows": 0, "judged": 0}
    return {**origin, **seen, "seconds": round(time.monotonic() - began, 1)}


def reason_in(report: Record | None, said: str) -> str:
    """The one line that says why nothing was run: the report's, or the first of what was printed that names a file."""
    every = [*(one["error"] for one in report["kernels"]), *report["unusable"]] if report else []
    named = [line for line in said.splitlines() if re.search(r"\.py:|\berror\b", line) and not PROGRESS.match(line)]
    return next((line for words in (*every, *named) for line in words.splitlines() if line.strip()), "")


def outcome(report: Record | None, said: str) -> Record:
    """Judged, warned of, accused or refused; with kfuzz's first words on why."""
    kernels = report["kernels"] if report else []
    if not kernels or kernels[0]["error"]:
        return {"outcome": "refused", "why": reason_in(report, said), "rows": 0, "judged": 0}
    (one,) = kernels
    rows, judged = one["rows"], one["rows"] - one["unjudged_rows"]
    found = [f"{each['severity']}: {each['bug']}" for each in one.get("findings", ())]
    severe = [each for each in found if each.startswith("error")]
    name = "accused" if severe else "warned of" if found else "judged" if judged else "not judged"
    why = severe or found or ([] if judged else one["not_judged"][:1])
    return {"outcome": name, "why": "; ".join(why), "rows": rows, "judged": judged}


if __name__ == "__main__":
    listed, copies, drawn = sys.argv[1:]
    for each in candidates(Path(listed).read_text(encoding="utf-8").split(), Path(copies), drawn):
        print(json.dumps(each))
