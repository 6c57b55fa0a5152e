"""The kernels that a change touches: their text, or a file that they include, differs from a commit.

Knows git and `#include "..."`; never the content of a claim.
"""

import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from kfuzz.claims.kernel import Kernel
from kfuzz.common.errors import TargetError
from kfuzz.common.text import exhibits

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.MULTILINE)


def kernels_changed_since(kernels: Sequence[Kernel], commit: str) -> tuple[Kernel, ...]:
    """The kernels that differ between the commit and the working tree, including new ones."""
    touched = files_that_differ(commit)
    return tuple(kernel for kernel in kernels if touched & included_files(kernel.path))


def files_that_differ(commit: str) -> frozenset[Path]:
    """The files that differ from the commit, and the untracked ones."""
    top = Path(ask_git("rev-parse", "--show-toplevel").rstrip("\n"))
    # The changes of this branch, not those that others made on the base since.
    base = ask_git("merge-base", "HEAD", f"{commit}^{{commit}}").strip()
    names = ask_git("diff", "--name-only", "-z", "--no-renames", base, cwd=top).split("\0")
    names += ask_git("ls-files", "--others", "--exclude-standard", "-z", cwd=top).split("\0")
    return frozenset((top / name).resolve() for name in names if name)


def ask_git(*words: str, cwd: Path | None = None) -> str:
    """The output of a git command; a TargetError of one line if it fails."""
    try:
        process = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise TargetError("--since asks git what has changed, but git is not installed here") from None
    if process.returncode:
        why = (process.stderr.strip().splitlines() or ["git failed"])[-1]
        raise TargetError(f"--since: git {words[0]}: {why}; a shallow clone needs the base's history (fetch-depth: 0)")
    return process.stdout


def included_files(path: Path) -> frozenset[Path]:
    """The file and every existing file that it includes by a relative path; for an exhibit, its base too."""
    files: set[Path] = set()
    left = [path.resolve()]
    if description := exhibits.description_of(path):
        left = [description.resolve(), exhibits.read(description).base.resolve()]
    while left:
        one = left.pop()
        if one in files or not one.is_file():
            continue
        files.add(one)
        left += included_paths(one)
    return frozenset(files)


def included_paths(path: Path) -> Iterable[Path]:
    """The paths that a file includes, relative to its own folder."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return [(path.parent / name).resolve() for name in INCLUDE.findall(text)]
