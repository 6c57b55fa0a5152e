"""Public programs that were drawn by lot before we had opened them, and what `kfuzz check` says of each.

    python -m benchmarks.detection.drawn NAMES MIRRORS DRAW              the candidates of a draw, in their order
    python -m benchmarks.detection measure drawn FOLDER...              the figures of draws that were run

The method was fixed before the first draw. NAMES are repositories in the order of a shuffle; MIRRORS has a bare copy
of each, OWNER+NAME. A candidate is a `.cu` file with a `main` and a launch. In the order of DRAW's own shuffle, at most
two of a repository are kept if nvcc of CUDA 13 builds the file alone, without options, from its folder and the headers
that it names. Draw A took names 1 to 46 and, as A2, 47 to 56 of 358; B took 57 to 131, C 132 to 191.

A FOLDER has `list.json` (slot, repository, commit, path of each program), `tried` (how many candidates nvcc got) and
`results.jsonl`: the name, exit code, seconds and report of `kfuzz check FILE` on two cores, without options. Keeps
names, figures and kfuzz's own words, and no text of the programs.
"""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from benchmarks.measurement import Figures, Record
from kfuzz.common.text.cuda_text import blank_non_code

TRUE = Path(__file__).parent / "public_programs" / "true.json"
LARGEST = 200_000
"""Bytes of a candidate."""


def candidates(names: Sequence[str], mirrors: Path, draw: str) -> list[Record]:
    """The candidates of a draw in its order."""
    every: list[Record] = []
    for name in names:
        git = git_of(mirrors, name)
        if git.exists():
            commit = run_git(git, "rev-parse", "HEAD").strip()
            every += [{"repository": name, "commit": commit, "path": path} for path in _programs(git)]
    random.Random(f"57 {draw}").shuffle(every)  # noqa: S311  a draw that anyone can repeat
    return every


def in_rounds(names: Iterable[str], draw: str, found_in: Callable[[str], Iterable[Record]]) -> list[Record]:
    """What is found in repositories, in the order of a shuffle of its own: one of each repository, then another one."""
    chance = random.Random(draw)  # noqa: S311  a draw that anyone can repeat
    order = sorted(names)
    chance.shuffle(order)
    every = []
    for name in order:
        found = list(found_in(name))
        chance.shuffle(found)
        every.append(found)
    return [one for turn in zip_longest(*every) for one in turn if one]


def git_of(mirrors: Path, name: str) -> Path:
    """The git directory of the copy of a repository."""
    copy = mirrors / name.replace("/", "+") / "repo"
    return copy / ".git" if (copy / ".git").exists() else copy


def run_git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "--git-dir", folder, *words], capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


def _programs(git: Path) -> Iterator[str]:
    """The CUDA files with a main and a launch, by name."""
    for path, blob in files_of(git, ".cu"):
        code = blank_non_code(run_git(git, "cat-file", "blob", blob))
        if re.search(r"\bmain\s*\(", code) and "<<<" in code:
            yield path


def files_of(git: Path, suffix: str) -> Iterator[tuple[str, str]]:
    """The path and blob of each file of this suffix that is not too large, by name."""
    rows = [one.split("\t", 1) for one in run_git(git, "ls-tree", "-r", "-l", "-z", "HEAD").split("\0") if "\t" in one]
    for facts, path in sorted(rows, key=lambda row: row[1]):
        _, _, blob, size = facts.split()
        if path.endswith(suffix) and size.isdigit() and int(size) <= LARGEST:
            yield path, blob


def measure(folders: Sequence[str]) -> Figures:
    """A row for each program of each draw."""
    reasons = {
        (repository, path, finding): reason
        for repository, path, findings, reason in json.loads(TRUE.read_text(encoding="utf-8"))
        for finding in findings
    }
    rows = [row for folder in folders for row in read(Path(folder), reasons)]
    return Figures({"tried": {Path(one).name: int((Path(one) / "tried").read_text()) for one in folders}}, {
        "programs": rows
    })  # fmt: skip


def read(folder: Path, reasons: dict[tuple[str, str, str], str]) -> Iterator[Record]:
    """The programs of a draw with their last results."""
    results = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    by_name = {one["name"]: one for one in results}
    for one in json.loads((folder / "list.json").read_text(encoding="utf-8")):
        made, key = by_name[one["slot"]], (one["repository"], one["path"])
        text = "\n".join(made["report"])
        findings = list(dict.fromkeys(f"{kind} {place}" for kind, place in BROKEN.findall(text)))
        yield {
            "draw": folder.name, **{name: one[name] for name in ("repository", "commit", "path")},
            "outcome": outcome(made["code"], text), "seconds": made["seconds"], "findings": findings,
            "why": " ".join(dict.fromkeys(reasons.get((*key, finding), "") for finding in findings)).strip(),
        }  # fmt: skip


BROKEN = re.compile(r"^BROKEN  [^:\n]+: ([\w-]+)[^§]*?^  where +(?:\S*/)?(\S+:\d+)", re.MULTILINE)


def outcome(code: int, text: str) -> str:
    """The verdict on a program, or why there is none."""
    if code == 1:
        return "finding"
    if code == 0:
        return "kept in part" if "nothing found in what ran" in text else "kept"
    if code == 124:
        return "did not end"
    why = re.search(r"cannot run|ends with exit code|launched no kernel|nothing was tested", text)
    return why[0] if why else "does not compile"


if __name__ == "__main__":
    names, mirrors, draw = sys.argv[1:]
    for one in candidates(Path(names).read_text(encoding="utf-8").split(), Path(mirrors), draw):
        print(json.dumps(one))
